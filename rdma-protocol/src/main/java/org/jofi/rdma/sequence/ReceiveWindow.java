package org.jofi.rdma.sequence;

import org.jofi.rdma.wire.ProtocolLimits;

/**
 * Which receives of a communicator are in flight: at most 128, and none is posted before the one
 * 128 earlier has completed, whatever completed since. So a number's place in tables and in the
 * mailbox, number modulo 128, is never shared.
 */
public final class ReceiveWindow {
  /** {@link #post}: the window is full. */
  public static final long FULL = -1;

  private static final int SLOTS = ProtocolLimits.RECEIVE_WINDOW;

  private final long[] completed = new long[SLOTS / Long.SIZE];
  private long oldest = SequenceNumbers.FIRST;
  private long next = SequenceNumbers.FIRST;

  /** Whether no number can be taken. */
  public boolean isFull() {
    return next - oldest == SLOTS;
  }

  /** Takes the next number, or {@link #FULL}. */
  public long post() {
    if (isFull()) {
      return FULL;
    }
    return next++;
  }

  /**
   * Takes the last number back, of a receive that could not be posted after all.
   *
   * @throws IllegalStateException if it is not the last one, or completed
   */
  public void unpost(long messageNumber) {
    if (messageNumber != next - 1 || !isInFlight(messageNumber)) {
      throw new IllegalStateException(
          "message %d is not the last of [%d, %d)".formatted(messageNumber, oldest, next));
    }
    next--;
  }

  /**
   * Marks a receive as completed.
   *
   * @return false if it is not in flight: never posted, or completed already
   */
  public boolean complete(long messageNumber) {
    if (!isInFlight(messageNumber)) {
      return false;
    }
    mark(messageNumber, true);
    while (oldest < next && isMarked(oldest)) {
      mark(oldest++, false);
    }
    return true;
  }

  /** Whether a receive is posted and has not completed. */
  public boolean isInFlight(long messageNumber) {
    return messageNumber >= oldest && messageNumber < next && !isMarked(messageNumber);
  }

  /**
   * The receive in flight that the bits of immediate data stand for.
   *
   * @return its number, or {@link SequenceNumbers#OUTSIDE} if there is none
   */
  public long inFlight(int sequenceBits) {
    long number = SequenceNumbers.expand(sequenceBits, oldest, next);
    return number != SequenceNumbers.OUTSIDE && isInFlight(number)
        ? number
        : SequenceNumbers.OUTSIDE;
  }

  /** A number's place in tables of 128. */
  public static int slot(long messageNumber) {
    return (int) messageNumber & (SLOTS - 1);
  }

  /** The number of the oldest receive that has not completed; {@link #next} if there is none. */
  public long oldest() {
    return oldest;
  }

  /** The number that the next receive gets. */
  public long next() {
    return next;
  }

  private boolean isMarked(long messageNumber) {
    int slot = slot(messageNumber);
    return (completed[slot / Long.SIZE] & 1L << slot) != 0;
  }

  private void mark(long messageNumber, boolean value) {
    int slot = slot(messageNumber);
    long bit = 1L << slot;
    if (value) {
      completed[slot / Long.SIZE] |= bit;
    } else {
      completed[slot / Long.SIZE] &= ~bit;
    }
  }
}
