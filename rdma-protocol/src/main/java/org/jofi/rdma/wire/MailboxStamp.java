package org.jofi.rdma.wire;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The last 8 bytes of a mailbox line, read at once: says that the line is there, and whose it is.
 *
 * <pre>
 * [63:48] check | [47:32] generation | [31] line | [30:23] handled | [22:0] receive index modulo 2^23
 * </pre>
 *
 * <p>Handled are the low 8 bits of how many eager messages the receiver had handled in order when
 * it gave the receive its index. They tell the sender something about the entry, not whose it is:
 * the check covers them, but a stamp fits whatever they are.
 *
 * <p><b>Why a stamp cannot be taken for another's.</b> An entry is written again after 256
 * receives, so that the 23 bits tell 2^15 uses of an entry apart; and a generation differs from the
 * last 65 534 given out by the endpoint, so that a line left by, or arriving late from, an earlier
 * owner of the memory does not fit. Indices start at 1 and generations too: zeroed memory never
 * fits.
 *
 * <p><b>Why the check.</b> Nothing promises that 64 bytes land as one: a provider that copies with
 * the processor may be seen halfway. The check covers the rest of the line, so that a line with old
 * words in it counts as not there yet. It has 48 bits: 16 here, and 32 in a field of the line's
 * own, so that one in 2^48 of torn lines would pass.
 */
final class MailboxStamp {
  /** Reads and writes it, at once and in order, where it lies. */
  static final VarHandle WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private static final int INDEX_BITS = 23;
  private static final long INDEX_MASK = (1L << INDEX_BITS) - 1;
  private static final int HANDLED_MASK = 0xff;
  private static final int LINE_BIT = 31;
  private static final long WITHOUT_CHECK = (1L << 48) - 1;
  private static final long OWNER = WITHOUT_CHECK & ~((long) HANDLED_MASK << INDEX_BITS);
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private MailboxStamp() {}

  /** A stamp without its check; of what was handled, the low 8 bits count. */
  static long of(long index, int generation, int line, int handled) {
    return (long) generation << 32
        | (long) line << LINE_BIT
        | (long) (handled & HANDLED_MASK) << INDEX_BITS
        | (index & INDEX_MASK);
  }

  static int handled(long stamp) {
    return (int) (stamp >>> INDEX_BITS) & HANDLED_MASK;
  }

  /** The 48 bits of check of a stamp, and of the line's other words, folded by {@link #fold}. */
  static long check(long stamp, long folded) {
    return fold(fold(folded, stamp & WITHOUT_CHECK), 0) >>> 16;
  }

  /** That stamp with its part of the check. */
  static long sealed(long stamp, long check) {
    return (stamp & WITHOUT_CHECK) | check >>> 32 << 48;
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

  /** Whether it is that line's of that receive and generation, whatever was handled. */
  static boolean isOf(long stamp, long index, int generation, int line) {
    long owner = (long) generation << 32 | (long) line << LINE_BIT | (index & INDEX_MASK);
    return (stamp & OWNER) == owner;
  }
}
