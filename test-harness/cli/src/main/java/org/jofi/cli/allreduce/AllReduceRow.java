package org.jofi.cli.allreduce;

import java.util.Arrays;

/**
 * The result for one length.
 *
 * @param ranks how many ranks took part
 * @param bytes the array's length
 * @param iterations measured rounds
 * @param medianNanos the median of the rounds' times; a round's time is that of its slowest rank
 * @param bestNanos the shortest time of a round
 * @param wrong how many elements were not the exact sum, in all ranks and rounds, including the
 *     warm-up
 */
public record AllReduceRow(
    int ranks, long bytes, int iterations, long medianNanos, long bestNanos, long wrong) {

  /** Makes a row from the time of each round and the number of wrong elements. */
  static AllReduceRow of(int ranks, long bytes, long[] nanos, long wrong) {
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    long median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new AllReduceRow(ranks, bytes, nanos.length, median, sorted[0], wrong);
  }

  /** Bytes of the array per second, for the median time. */
  public double algorithmBytesPerSecond() {
    return medianNanos == 0 ? 0 : bytes * 1e9 / medianNanos;
  }

  /**
   * Bytes per second that the NICs of each rank must send at least, with any algorithm: 2 (n - 1) /
   * n of the algorithm's bandwidth.
   */
  public double busBytesPerSecond() {
    return algorithmBytesPerSecond() * 2 * (ranks - 1) / ranks;
  }
}
