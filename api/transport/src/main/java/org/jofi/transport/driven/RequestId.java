package org.jofi.transport.driven;

/**
 * The layout of a request id: a slot of the communicator's request table, and a generation that
 * counts how often the slot was used.
 *
 * <pre>
 * [63] 0   [62:16] generation, 1 or more   [15:0] slot
 * </pre>
 *
 * The generation grows with each use of the slot, so the id of a request that is over never becomes
 * valid again.
 */
public final class RequestId {
  /** Largest number of requests that one communicator can have in flight. */
  public static final int MAX_SLOTS = 1 << 16;

  /** The greatest generation. At a million requests per second a slot lasts four years. */
  public static final long MAX_GENERATION = (1L << 47) - 1;

  private RequestId() {}

  /**
   * {@return an id of these parts, which is positive}
   *
   * @param slot 0 to {@link #MAX_SLOTS} - 1
   * @param generation 1 to {@link #MAX_GENERATION}
   */
  public static long of(int slot, long generation) {
    assert slot >= 0 && slot < MAX_SLOTS : slot;
    assert generation >= 1 && generation <= MAX_GENERATION : generation;
    return generation << 16 | slot;
  }

  /**
   * {@return the slot of an id}
   *
   * @param request an id, which a posting call returned
   */
  public static int slot(long request) {
    return (int) request & (MAX_SLOTS - 1);
  }

  /**
   * {@return the generation of an id; 0 or less if the number is not an id}
   *
   * @param request any number, such as what a posting call returned
   */
  public static long generation(long request) {
    return request >> 16;
  }
}
