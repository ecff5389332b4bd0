package org.jofi.nccl;

/**
 * The requests of a communicator whose end NCCL has not seen yet. One thread at a time. It
 * allocates nothing after its construction. It stays with the communicator's slot, so that
 * generations go on and a request of an earlier communicator in this slot is not mistaken for a new
 * one.
 *
 * <pre>
 * [63:60] 0   [59:56] kind   [55:32] slot of the communicator   [31:8] generation   [7:0] slot
 * </pre>
 */
final class RequestTable {
  /** Largest number of requests at once: NCCL's 32, times the 8 sends for a grouped receive. */
  static final int CAPACITY = 256;

  /** The kind of its handles. */
  static final int KIND = 15;

  /** What {@link #find} returns if there is no such request. */
  static final int NONE = -1;

  private static final int SLOT_MASK = CAPACITY - 1;
  private static final int GENERATION_MASK = (1 << 24) - 1;

  private final long base;
  private final long[] handles = new long[CAPACITY];
  private final long[] ids = new long[CAPACITY];
  private final int[] details = new int[CAPACITY];

  /** Free slots, the longest free first, so that a slot is reused as late as possible. */
  private final int[] free = new int[CAPACITY];

  private final int[] generations = new int[CAPACITY];
  private long taken;
  private long given = CAPACITY;

  /**
   * @param comm the communicator's slot
   */
  RequestTable(int comm) {
    base = (long) KIND << 56 | (long) comm << 32;
    for (int slot = 0; slot < CAPACITY; slot++) {
      free[slot] = slot;
    }
  }

  /** Whether a handle may be a request's. */
  static boolean isRequest(long handle) {
    return handle >>> 56 == KIND;
  }

  /** The slot of the communicator that a request belongs to. */
  static int comm(long handle) {
    return (int) (handle >>> 32) & 0xFF_FFFF;
  }

  /** Whether there is no free slot. */
  boolean isFull() {
    return taken == given;
  }

  /**
   * Adds a request; the table must not be full.
   *
   * @param id the transport's request id, or another number to store
   * @param detail another number to store
   * @return its handle
   */
  long add(long id, int detail) {
    int slot = free[(int) (taken++ & SLOT_MASK)];
    int generation = generations[slot] + 1 & GENERATION_MASK;
    generations[slot] = generation;
    long handle = base | (long) generation << 8 | slot;
    handles[slot] = handle;
    ids[slot] = id;
    details[slot] = detail;
    return handle;
  }

  /** The slot of a request, or {@link #NONE}. */
  int find(long handle) {
    int slot = (int) handle & SLOT_MASK;
    return handles[slot] == handle ? slot : NONE;
  }

  /** The id that was stored with the request in a slot. */
  long id(int slot) {
    return ids[slot];
  }

  /** The detail that was stored with the request in a slot. */
  int detail(int slot) {
    return details[slot];
  }

  /** Removes the request in a slot. */
  void remove(int slot) {
    handles[slot] = 0;
    free[(int) (given++ & SLOT_MASK)] = slot;
  }

  /** Removes all requests. */
  void clear() {
    for (int slot = 0; slot < CAPACITY; slot++) {
      if (handles[slot] != 0) {
        remove(slot);
      }
    }
  }
}
