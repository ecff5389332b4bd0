package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import org.jofi.cli.ranks.RingLinks;

/**
 * A barrier, so that all ranks begin a round within a few message times. It is an all-reduce of one
 * element in host memory, or of one per rank in a ring, which no rank leaves before all ranks have
 * entered it. It uses partners if they are connected.
 */
final class RankBarrier implements AutoCloseable {
  private final RingMemory memory;
  private final AllReduce allReduce;

  RankBarrier(RingLinks links) {
    int rank = links.ranks().rank();
    int ranks = links.ranks().size();
    DoublingSchedule doubling = new DoublingSchedule(rank, ranks);
    if (links.reach(doubling.partners())) {
      memory = new HostRingMemory(JAVA_FLOAT.byteSize(), DoublingAllReduce.landingBytes(1));
      allReduce = new DoublingAllReduce(links, memory, doubling, 1, 1);
    } else {
      memory = new HostRingMemory(ranks * JAVA_FLOAT.byteSize(), RingAllReduce.landingBytes(1, 1));
      allReduce = new RingAllReduce(links, memory, new RingSchedule(rank, ranks, ranks, 1), 1);
    }
  }

  void await() {
    allReduce.run();
  }

  @Override
  public void close() {
    allReduce.close();
    memory.close();
  }
}
