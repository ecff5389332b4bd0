package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import org.jofi.cli.ranks.RingLinks;

/**
 * Lets all ranks begin a round together, to within a few message times: an all-reduce of one
 * element per rank, out of which nobody comes before everybody came in.
 */
final class RingBarrier implements AutoCloseable {
  private final Arena arena = Arena.ofConfined();
  private final RingAllReduce allReduce;
  private final RingSchedule schedule;

  RingBarrier(RingLinks links) {
    int ranks = links.bootstrap().size();
    schedule = new RingSchedule(links.bootstrap().rank(), ranks, ranks, 1);
    allReduce = new RingAllReduce(links, arena.allocate(JAVA_FLOAT, ranks), 1, 1);
  }

  void await() {
    allReduce.run(schedule);
  }

  @Override
  public void close() {
    allReduce.close();
    arena.close();
  }
}
