package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;

/**
 * The elements that ranks contribute, and their sums. All values are small integers, so that every
 * partial sum is exact in float32 in any order: for 1024 ranks, the greatest is below 2^22. A
 * contribution that is missing or counted twice, or is that of another element or round, gives a
 * wrong sum.
 */
final class SumPattern {
  private SumPattern() {}

  /** One rank's contribution: 1 to 256, plus the rank 1 to 4 times. */
  static float value(int rank, long element, int round) {
    int drawn = drawn(element, round);
    return base(drawn) + (float) rank * weight(drawn);
  }

  /** The sum over all ranks. */
  static float sum(int ranks, long element, int round) {
    int drawn = drawn(element, round);
    int ofTheRanks = ranks * (ranks - 1) / 2;
    return (float) ranks * base(drawn) + (float) ofTheRanks * weight(drawn);
  }

  static void fill(MemorySegment array, long elements, int rank, int round) {
    for (long i = 0; i < elements; i++) {
      array.setAtIndex(JAVA_FLOAT, i, value(rank, i, round));
    }
  }

  /** How many elements are wrong. */
  static long wrong(MemorySegment array, long elements, int ranks, int round) {
    long wrong = 0;
    for (long i = 0; i < elements; i++) {
      if (array.getAtIndex(JAVA_FLOAT, i) != sum(ranks, i, round)) {
        wrong++;
      }
    }
    return wrong;
  }

  private static int drawn(long element, int round) {
    int mixed = ((int) element + round * 0x61C8_8647) * 0x9E37_79B1;
    return mixed ^ mixed >>> 15;
  }

  private static int base(int drawn) {
    return 1 + (drawn >>> 24);
  }

  private static int weight(int drawn) {
    return 1 + (drawn & 3);
  }
}
