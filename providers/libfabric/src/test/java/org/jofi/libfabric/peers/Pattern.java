package org.jofi.libfabric.peers;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bytes that tell where they belong: each depends on a seed and on its place. */
final class Pattern {
  private Pattern() {}

  static void fill(MemorySegment segment, long seed) {
    for (long i = 0; i < segment.byteSize(); i++) {
      segment.set(ValueLayout.JAVA_BYTE, i, at(seed, i));
    }
  }

  /** Every byte of it. */
  static void verify(MemorySegment segment, long seed, String what) {
    for (long i = 0; i < segment.byteSize(); i++) {
      byte found = segment.get(ValueLayout.JAVA_BYTE, i);
      if (found != at(seed, i)) {
        throw new AssertionError(
            "%s: byte %d of %d is %d instead of %d"
                .formatted(what, i, segment.byteSize(), found, at(seed, i)));
      }
    }
  }

  /** Whether every byte of it is there. */
  static boolean matches(MemorySegment segment, long seed) {
    for (long i = segment.byteSize() - 1; i >= 0; i--) {
      if (segment.get(ValueLayout.JAVA_BYTE, i) != at(seed, i)) {
        return false;
      }
    }
    return true;
  }

  private static byte at(long seed, long index) {
    long mixed = (seed * 0x9E3779B97F4A7C15L + index) * 0xBF58476D1CE4E5B9L;
    return (byte) (mixed >>> 56);
  }
}
