package org.jofi.cli.collectives;

import java.util.Arrays;
import org.jofi.collectives.Collective;
import org.jofi.collectives.schedule.Operation;

/**
 * The result for one operation of one length.
 *
 * @param ranks how many ranks took part
 * @param collective the operation
 * @param algorithm the name of its algorithm
 * @param reason why this one
 * @param iterations measured rounds
 * @param medianNanos the median of the rounds' times; a round's time is that of its slowest rank
 * @param bestNanos the shortest time of a round
 * @param wrong how many elements were wrong, in all ranks and rounds, including the warm-up
 */
public record CollectivesRow(
    int ranks,
    Collective collective,
    String algorithm,
    String reason,
    int iterations,
    long medianNanos,
    long bestNanos,
    long wrong) {

  /** Makes a row from the time of each round and the number of wrong elements. */
  static CollectivesRow of(
      int ranks, Collective collective, String algorithm, String reason, long[] nanos, long wrong) {
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    long median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new CollectivesRow(
        ranks, collective, algorithm, reason, nanos.length, median, sorted[0], wrong);
  }

  /** What is done. */
  public Operation.Kind operation() {
    return collective.operation().kind();
  }

  /** Elements, as the operation counts them. */
  public long elements() {
    return collective.operation().count();
  }

  /** The length of the longest of the arrays of a rank, in bytes; 0 for a barrier. */
  public long bytes() {
    return CollectivesPlan.bytes(collective, ranks);
  }

  /** Bytes of the array per second, for the median time. */
  public double algorithmBytesPerSecond() {
    return medianNanos == 0 ? 0 : bytes() * 1e9 / medianNanos;
  }

  /** Bytes per second that the busiest rank's NICs must carry at least, as nccl-tests count it. */
  public double busBytesPerSecond() {
    return algorithmBytesPerSecond() * busFactor(operation(), ranks);
  }

  /** What nccl-tests multiply the algorithm's bandwidth with. */
  static double busFactor(Operation.Kind operation, int ranks) {
    return switch (operation) {
      case ALL_REDUCE -> 2.0 * (ranks - 1) / ranks;
      case REDUCE_SCATTER, ALL_GATHER, GATHER, SCATTER, ALL_TO_ALL -> (ranks - 1.0) / ranks;
      case BROADCAST, REDUCE -> 1;
      case BARRIER -> 0;
    };
  }
}
