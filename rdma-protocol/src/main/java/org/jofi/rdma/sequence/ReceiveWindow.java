package org.jofi.rdma.sequence;

import org.jofi.rdma.wire.ProtocolLimits;

/**
 * Which receives of a communicator are in flight: at most 256, and none is posted before the one
 * 256 earlier has completed, whatever completed since. So an index's place in tables and in the
 * mailbox, index modulo 256, is never shared.
 */
public final class ReceiveWindow {
  private static final int SLOTS = ProtocolLimits.RECEIVE_WINDOW;

  private final long[] completed = new long[SLOTS / Long.SIZE];
  private long oldest = ReceiveIndices.FIRST;
  private long next = ReceiveIndices.FIRST;

  /** Whether so many indices can be taken. */
  public boolean hasRoom(int count) {
    return next - oldest + count <= SLOTS;
  }

  /** Takes so many indices, for which there is room; the first of them. */
  public long post(int count) {
    assert hasRoom(count) : count;
    long first = next;
    next += count;
    return first;
  }

  /**
   * Marks a receive as completed.
   *
   * @return false if it is not in flight: never posted, or completed already
   */
  public boolean complete(long index) {
    if (!isInFlight(index)) {
      return false;
    }
    mark(index, true);
    while (oldest < next && isMarked(oldest)) {
      mark(oldest++, false);
    }
    return true;
  }

  /** Whether a receive is posted and has not completed. */
  public boolean isInFlight(long index) {
    return index >= oldest && index < next && !isMarked(index);
  }

  /**
   * The receive in flight that the bits of immediate data stand for.
   *
   * @return its index, or {@link ReceiveIndices#OUTSIDE} if there is none
   */
  public long inFlight(int indexBits) {
    long index = ReceiveIndices.expand(indexBits, oldest, next);
    return index != ReceiveIndices.OUTSIDE && isInFlight(index) ? index : ReceiveIndices.OUTSIDE;
  }

  /** An index's place in tables of 256. */
  public static int slot(long index) {
    return (int) index & (SLOTS - 1);
  }

  /** The index of the oldest receive that has not completed; {@link #next} if there is none. */
  public long oldest() {
    return oldest;
  }

  public long next() {
    return next;
  }

  private boolean isMarked(long index) {
    int slot = slot(index);
    return (completed[slot / Long.SIZE] & 1L << slot) != 0;
  }

  private void mark(long index, boolean value) {
    int slot = slot(index);
    long bit = 1L << slot;
    if (value) {
      completed[slot / Long.SIZE] |= bit;
    } else {
      completed[slot / Long.SIZE] &= ~bit;
    }
  }
}
