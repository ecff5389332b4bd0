package org.jofi.collectives.schedule;

import java.util.stream.IntStream;

/**
 * A barrier in which one rank of each host waits for the others of its host, then all those for
 * each other, and then tells the others: an all-reduce of one element.
 */
final class TwoLevelBarrier extends TwoLevel {
  private final Algorithm allReduce;

  /**
   * @param hosts of the ranks, several
   * @param between how one rank of each host waits for all those: an all-reduce
   */
  TwoLevelBarrier(Hosts hosts, Algorithm between) {
    super(Operation.Kind.BARRIER, hosts);
    allReduce = new TwoLevelAllReduce(hosts, between);
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    long word = to.scratch(1);
    allReduce.write(
        to.part(
            IntStream.range(0, to.size()).boxed().toList(),
            Place.SCRATCH,
            word,
            Place.SCRATCH,
            word,
            false),
        Operation.of(Operation.Kind.ALL_REDUCE, 1),
        1);
  }
}
