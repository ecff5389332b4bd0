package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import org.jofi.cli.ranks.RingLinks;

/**
 * A barrier, so that all ranks begin a round within a few message times. It is an all-reduce of one
 * element per rank in host memory, which no rank leaves before all ranks have entered it.
 */
final class RingBarrier implements AutoCloseable {
  private final RingMemory memory;
  private final RingAllReduce allReduce;
  private final RingSchedule schedule;

  RingBarrier(RingLinks links) {
    int ranks = links.bootstrap().size();
    schedule = new RingSchedule(links.bootstrap().rank(), ranks, ranks, 1);
    memory = new HostRingMemory(ranks * JAVA_FLOAT.byteSize(), RingAllReduce.landingBytes(1, 1));
    allReduce = new RingAllReduce(links, memory, 1, 1);
  }

  void await() {
    allReduce.run(schedule);
  }

  @Override
  public void close() {
    allReduce.close();
    memory.close();
  }
}
