package org.jofi.simulated.workload;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Byte patterns that identify a message and the position in it. */
final class Pattern {
  private Pattern() {}

  /**
   * Fills memory with the pattern of a token, starting at {@code offset}, a multiple of 8, in its
   * message.
   */
  static void fill(MemorySegment memory, long token, long offset) {
    long bytes = memory.byteSize();
    long words = bytes & -8;
    for (long i = 0; i < words; i += 8) {
      memory.set(ValueLayout.JAVA_LONG_UNALIGNED, i, word(token, offset + i));
    }
    for (long i = words; i < bytes; i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, octet(token, offset + i));
    }
  }

  /** The offset at which memory first differs from the pattern; -1 if it does not. */
  static long mismatch(MemorySegment memory, long token, long offset) {
    long bytes = memory.byteSize();
    long words = bytes & -8;
    for (long i = 0; i < words; i += 8) {
      if (memory.get(ValueLayout.JAVA_LONG_UNALIGNED, i) != word(token, offset + i)) {
        return i;
      }
    }
    for (long i = words; i < bytes; i++) {
      if (memory.get(ValueLayout.JAVA_BYTE, i) != octet(token, offset + i)) {
        return i;
      }
    }
    return -1;
  }

  private static byte octet(long token, long at) {
    return (byte) (word(token, at & -8) >>> (8 * (at & 7)));
  }

  private static long word(long token, long at) {
    long z = token * 0x9E3779B97F4A7C15L + at;
    z = (z ^ (z >>> 29)) * 0xBF58476D1CE4E5B9L;
    return z ^ (z >>> 32);
  }
}
