package org.jofi.transport;

/**
 * A request id: a slot of the communicator's request table, and how often that slot was used.
 *
 * <pre>
 * [63] 0   [62:16] generation, 1 or more   [15:0] slot
 * </pre>
 *
 * A slot's generation grows with each use, so an id that was reported once never fits again.
 */
public final class RequestId {
  /** Most requests that one communicator can have in flight. */
  public static final int MAX_SLOTS = 1 << 16;

  /** The greatest generation. At a million requests per second a slot lasts four years. */
  public static final long MAX_GENERATION = (1L << 47) - 1;

  private RequestId() {}

  /**
   * An id, positive.
   *
   * @param slot 0 up to, without, {@link #MAX_SLOTS}
   * @param generation 1 to {@link #MAX_GENERATION}
   */
  public static long of(int slot, long generation) {
    assert slot >= 0 && slot < MAX_SLOTS : slot;
    assert generation >= 1 && generation <= MAX_GENERATION : generation;
    return generation << 16 | slot;
  }

  /** The slot of an id. */
  public static int slot(long request) {
    return (int) request & (MAX_SLOTS - 1);
  }

  /** The generation of an id; 0 or less for what is no id. */
  public static long generation(long request) {
    return request >> 16;
  }
}
