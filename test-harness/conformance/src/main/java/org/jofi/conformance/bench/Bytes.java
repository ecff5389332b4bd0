package org.jofi.conformance.bench;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bytes that tell where they belong: each depends on a seed and on its place. */
public final class Bytes {
  /** What buffers are filled with before something shall arrive in them. */
  public static final byte UNTOUCHED = 0x5a;

  private Bytes() {}

  /** Fills a segment from its first byte. */
  public static void fill(MemorySegment segment, long seed) {
    for (long i = 0; i < segment.byteSize(); i++) {
      segment.set(ValueLayout.JAVA_BYTE, i, at(seed, i));
    }
  }

  /** Where a segment first differs from what {@link #fill} writes; -1 if nowhere. */
  public static long mismatch(MemorySegment segment, long seed) {
    for (long i = 0; i < segment.byteSize(); i++) {
      if (segment.get(ValueLayout.JAVA_BYTE, i) != at(seed, i)) {
        return i;
      }
    }
    return -1;
  }

  /** Whether all of it is there. */
  public static boolean match(MemorySegment segment, long seed) {
    return mismatch(segment, seed) < 0;
  }

  /** Marks a segment, to see later what was written to it. */
  public static void clear(MemorySegment segment) {
    segment.fill(UNTOUCHED);
  }

  /** Where a cleared segment was written to first; -1 if nowhere. */
  public static long touched(MemorySegment segment) {
    for (long i = 0; i < segment.byteSize(); i++) {
      if (segment.get(ValueLayout.JAVA_BYTE, i) != UNTOUCHED) {
        return i;
      }
    }
    return -1;
  }

  private static byte at(long seed, long index) {
    long mixed = (seed * 0x9E3779B97F4A7C15L + index) * 0xBF58476D1CE4E5B9L;
    byte value = (byte) (mixed >>> 56);
    // Never what cleared memory holds, so that a byte that did not arrive is always seen.
    return value == UNTOUCHED ? (byte) ~UNTOUCHED : value;
  }
}
