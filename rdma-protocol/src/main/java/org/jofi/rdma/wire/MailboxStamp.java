package org.jofi.rdma.wire;

/**
 * The last 8 bytes of a mailbox line, read at once: says that the line is there, and whose it is.
 *
 * <pre>
 * [63:48] check | [47:32] generation | [31:29] line | [28:26] receives - 1 | [25:23] sub-receive
 * [22:0] message number modulo 2^23
 * </pre>
 *
 * <p><b>Why a stamp cannot be taken for another's.</b> A slot is written again after 128 messages,
 * so that the 23 bits tell 65 536 uses of a slot apart; and a generation differs from the last 65
 * 534 given out by the endpoint, so that a line left by, or arriving late from, an earlier owner of
 * the memory does not fit. Message numbers start at 1 and generations too: zeroed memory never
 * fits.
 *
 * <p><b>Why the check.</b> Nothing promises that 64 bytes land as one: a provider that copies with
 * the processor may be seen halfway. The check covers the rest of the line, so that a line with old
 * words in it counts as not there yet. It has 48 bits: 16 here, and 32 in a field of the line's
 * own, so that one in 2^48 of torn lines would pass.
 */
public final class MailboxStamp {
  private static final int NUMBER_BITS = 23;
  private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;
  private static final long WITHOUT_CHECK = (1L << 48) - 1;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private MailboxStamp() {}

  /** A stamp without its check. */
  public static long of(
      long messageNumber, int generation, int receives, int subReceive, int line) {
    assert messageNumber >= 1 : messageNumber;
    assert generation >= 1 && generation <= ProtocolLimits.MAX_GENERATION : generation;
    assert receives >= 1 && receives <= ProtocolLimits.MAX_GROUP : receives;
    assert subReceive >= 0 && subReceive < receives : subReceive;
    return (long) generation << 32
        | (long) line << 29
        | (long) (receives - 1) << 26
        | (long) subReceive << 23
        | (messageNumber & NUMBER_MASK);
  }

  /** The 48 bits of check of a stamp, and of the line's other words, folded by {@link #fold}. */
  static long check(long stamp, long folded) {
    return fold(fold(folded, stamp & WITHOUT_CHECK), 0) >>> 16;
  }

  /** That stamp with its part of the check. */
  static long sealed(long stamp, long check) {
    return (stamp & WITHOUT_CHECK) | check >>> 32 << 48;
  }

  /** The part of the check that is a field of the line. */
  static int lineCheck(long check) {
    return (int) check;
  }

  /** Whether the stamp, and the field of the line, are those of that check. */
  static boolean isSealed(long stamp, int lineCheck, long check) {
    return stamp >>> 48 == check >>> 32 && lineCheck == (int) check;
  }

  /** Adds a word of the line; start from 0. */
  static long fold(long folded, long word) {
    long mixed = (Long.rotateLeft(folded, 23) ^ word) * MIX;
    return mixed ^ mixed >>> 29;
  }

  /** Whether it is of that message and generation. */
  static boolean isOf(long stamp, long messageNumber, int generation) {
    return (stamp & NUMBER_MASK) == (messageNumber & NUMBER_MASK)
        && (stamp >>> 32 & 0xffff) == generation;
  }

  static int line(long stamp) {
    return (int) (stamp >>> 29) & 7;
  }

  static int receives(long stamp) {
    return ((int) (stamp >>> 26) & 7) + 1;
  }

  static int subReceive(long stamp) {
    return (int) (stamp >>> 23) & 7;
  }
}
