package org.jofi.rdma.sequence;

import org.jofi.rdma.wire.ProtocolLimits;

/**
 * Message numbers, and the 10 bits of them that immediate data carries. Message numbers are counted
 * per communicator from 1 and never wrap.
 */
public final class SequenceNumbers {
  /** The first message's number. */
  public static final long FIRST = 1;

  /** What {@link #expand} says for bits that stand for no message of the window. */
  public static final long OUTSIDE = -1;

  private static final int MASK = (1 << ProtocolLimits.SEQUENCE_BITS) - 1;

  private SequenceNumbers() {}

  /** The bits of a message number. */
  public static int bits(long messageNumber) {
    return (int) messageNumber & MASK;
  }

  /**
   * The message number that bits stand for, within a window that is narrower than 1024.
   *
   * @param bits 10 bits
   * @param from the window's first number
   * @param to the number after its last
   * @return the number, or {@link #OUTSIDE}
   */
  public static long expand(int bits, long from, long to) {
    assert to - from <= MASK : "window of " + (to - from);
    long number = from + ((bits - from) & MASK);
    return number < to ? number : OUTSIDE;
  }
}
