package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import org.jofi.cli.ranks.RingLinks;

/**
 * Lets all ranks begin a round together, to within a few message times: an all-reduce of one
 * element per rank in host memory, out of which nobody comes before everybody came in.
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
