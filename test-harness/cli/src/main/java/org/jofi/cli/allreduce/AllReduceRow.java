package org.jofi.cli.allreduce;

import java.util.Arrays;

/**
 * What a length came to.
 *
 * @param ranks how many took part
 * @param bytes the array's length
 * @param iterations measured rounds
 * @param medianNanos a round's time, which is that of its slowest rank: the median
 * @param bestNanos the least
 * @param wrong elements that were not the exact sum, over all ranks and rounds, warm-up included
 */
public record AllReduceRow(
    int ranks, long bytes, int iterations, long medianNanos, long bestNanos, long wrong) {

  /** From each round's time and what was wrong. */
  static AllReduceRow of(int ranks, long bytes, long[] nanos, long wrong) {
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    long median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new AllReduceRow(ranks, bytes, nanos.length, median, sorted[0], wrong);
  }

  /** Bytes of the array per second, by the median. */
  public double algorithmBytesPerSecond() {
    return medianNanos == 0 ? 0 : bytes * 1e9 / medianNanos;
  }

  /**
   * Bytes that each rank's NICs must send per second at least, whatever the algorithm: 2 (n - 1) /
   * n of the array's.
   */
  public double busBytesPerSecond() {
    return algorithmBytesPerSecond() * 2 * (ranks - 1) / ranks;
  }
}
