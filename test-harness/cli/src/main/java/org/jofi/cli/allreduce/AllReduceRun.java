package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jofi.cli.ranks.RingLinks;

/**
 * One rank's part of a run: fills, sums, checks, measures, length by length. All ranks run it. For
 * one thread.
 */
public final class AllReduceRun {
  private static final long PAGE_BYTES = 4096;

  private final AllReducePlan plan;
  private final RingLinks links;
  private final LongConsumer progress;
  private final int rank;
  private final int ranks;
  private long rounds;

  /**
   * @param plan the same at all ranks
   * @param links to the neighbours
   * @param progress is told how many rounds are done
   */
  public AllReduceRun(AllReducePlan plan, RingLinks links, LongConsumer progress) {
    this.plan = plan;
    this.links = links;
    this.progress = progress;
    this.rank = links.bootstrap().rank();
    this.ranks = links.bootstrap().size();
  }

  /**
   * Runs it.
   *
   * @param each takes what a length came to, as soon as it is known; at every rank
   * @throws org.jofi.cli.ranks.RankFailure if this rank fails
   * @throws org.jofi.cli.ranks.BootstrapException if another one is lost
   */
  public void run(Consumer<AllReduceRow> each) {
    try (RingBarrier barrier = new RingBarrier(links)) {
      for (long bytes : plan.sizesBytes()) {
        each.accept(measure(bytes, barrier));
      }
    }
  }

  private AllReduceRow measure(long bytes, RingBarrier barrier) {
    long elements = bytes / JAVA_FLOAT.byteSize();
    int chunkElements =
        (int) Math.min(plan.chunkBytes() / Float.BYTES, Math.max(1, Math.ceilDiv(elements, ranks)));
    RingSchedule schedule = new RingSchedule(rank, ranks, elements, chunkElements);
    int warmup = plan.warmup(bytes);
    long[] nanos = new long[plan.iterations(bytes)];
    long wrong = 0;
    Arena arena = Arena.ofConfined();
    MemorySegment array = arena.allocate(bytes, PAGE_BYTES);
    AllReduceRow row;
    try (RingAllReduce allReduce = new RingAllReduce(links, array, chunkElements, plan.window())) {
      for (int round = 0; round < warmup + nanos.length; round++) {
        SumPattern.fill(array, elements, rank, round);
        barrier.await();
        long before = System.nanoTime();
        allReduce.run(schedule);
        long after = System.nanoTime();
        wrong += SumPattern.wrong(array, elements, ranks, round);
        if (round >= warmup) {
          nanos[round - warmup] = after - before;
        }
        progress.accept(++rounds);
      }
      // What neighbours still wait for needs this rank's progress, and its memory.
      row = join(bytes, nanos, wrong);
    }
    // Not after a failure: until the transport is closed, NICs may still be at it.
    arena.close();
    return row;
  }

  /** A round took as long as its slowest rank; what is wrong adds up. */
  private AllReduceRow join(long bytes, long[] nanos, long wrong) {
    ByteBuffer mine = ByteBuffer.allocate((nanos.length + 1) * Long.BYTES).putLong(wrong);
    mine.asLongBuffer().put(nanos);
    List<byte[]> all = links.gather(mine.array());
    long[] slowest = new long[nanos.length];
    long allWrong = 0;
    for (byte[] part : all) {
      ByteBuffer in = ByteBuffer.wrap(part);
      allWrong += in.getLong();
      for (int i = 0; i < slowest.length; i++) {
        slowest[i] = Math.max(slowest[i], in.getLong());
      }
    }
    return AllReduceRow.of(ranks, bytes, slowest, allWrong);
  }
}
