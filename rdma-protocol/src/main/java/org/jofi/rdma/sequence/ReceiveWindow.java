package org.jofi.rdma.sequence;

import org.jofi.rdma.wire.ProtocolLimits;

/**
 * Which receives of a communicator are in flight: at most 256, and none is posted before the one
 * 256 earlier has completed, whatever completed since. So an index's place in tables and in the
 * mailbox, index modulo 256, is never shared.
 */
public final class ReceiveWindow {
  /** The first receive's index; they are counted per communicator, and never wrap. */
  public static final long FIRST = 1;

  /** {@link #inFlight}: the bits stand for no receive in flight. */
  public static final long OUTSIDE = -1;

  private static final int SLOTS = ProtocolLimits.RECEIVE_WINDOW;
  private static final int MASK = (1 << ProtocolLimits.INDEX_BITS) - 1;

  private final long[] completed = new long[SLOTS / Long.SIZE];
  private long oldest = FIRST;
  private long next = FIRST;

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

  /** Marks a receive as completed; false if it was never posted, or completed already. */
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

  /** The receive in flight that the 10 bits of immediate data stand for, or {@link #OUTSIDE}. */
  public long inFlight(int indexBits) {
    long index = expand(indexBits, oldest);
    return isInFlight(index) ? index : OUTSIDE;
  }

  /** The first index of those 10 bits, from that one on. */
  static long expand(int bits, long from) {
    return from + ((bits - from) & MASK);
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
