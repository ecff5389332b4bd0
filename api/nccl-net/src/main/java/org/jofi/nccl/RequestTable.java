package org.jofi.nccl;

import org.jofi.transport.Comm;

/**
 * The requests of a communicator that NCCL has not seen the end of. One thread at a time. Allocates
 * nothing but itself; it stays with its slot, so that a request of an earlier communicator there is
 * not taken for one of this.
 *
 * <pre>
 * [63:60] 0   [59:56] kind   [55:32] slot of the communicator   [31:8] generation   [7:0] slot
 * </pre>
 */
final class RequestTable {
  /** Requests at once: NCCL's 32, times the 8 sends that a grouped receive takes. */
  static final int CAPACITY = 256;

  /** The kind of its handles. */
  static final int KIND = 15;

  /** What {@link #find} gives for what is no request. */
  static final int NONE = -1;

  private static final int SLOT_MASK = CAPACITY - 1;
  private static final int GENERATION_MASK = (1 << 24) - 1;

  private final long base;
  private final long[] handles = new long[CAPACITY];
  private final long[] ids = new long[CAPACITY];
  private final int[] details = new int[CAPACITY];

  /** Free slots, the longest free first: a slot is used again as late as possible. */
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

  /** The slot of the communicator that a request is of. */
  static int comm(long handle) {
    return (int) (handle >>> 32) & 0xFF_FFFF;
  }

  /** Whether another would not fit. */
  boolean isFull() {
    return taken == given;
  }

  /**
   * Takes up a request; it must not be full.
   *
   * @param id of the transport, or what the caller wants back
   * @param detail what the caller wants back
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

  /** What {@link Comm} calls the request in that slot. */
  long id(int slot) {
    return ids[slot];
  }

  /** What was given with the request in that slot. */
  int detail(int slot) {
    return details[slot];
  }

  /** Forgets the request in that slot. */
  void remove(int slot) {
    handles[slot] = 0;
    free[(int) (given++ & SLOT_MASK)] = slot;
  }

  /** Forgets all of them. */
  void clear() {
    for (int slot = 0; slot < CAPACITY; slot++) {
      if (handles[slot] != 0) {
        remove(slot);
      }
    }
  }
}
