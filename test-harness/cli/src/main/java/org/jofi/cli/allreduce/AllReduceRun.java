package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jofi.cli.ranks.RingLinks;

/**
 * One rank's part of a run: fills, sums, checks, measures, length by length. All ranks run it. For
 * one thread.
 */
public final class AllReduceRun {
  private final AllReducePlan plan;
  private final RingLinks links;
  private final RingMemory.Allocator arrays;
  private final LongConsumer progress;
  private final int rank;
  private final int ranks;
  private long rounds;

  /**
   * @param plan the same at all ranks
   * @param links to the neighbours
   * @param arrays where arrays live
   * @param progress is told how many rounds are done
   */
  public AllReduceRun(
      AllReducePlan plan, RingLinks links, RingMemory.Allocator arrays, LongConsumer progress) {
    this.plan = plan;
    this.links = links;
    this.arrays = arrays;
    this.progress = progress;
    this.rank = links.bootstrap().rank();
    this.ranks = links.bootstrap().size();
  }

  /**
   * How this rank's NICs reach the longest array of the plan: allocates and registers it, and gives
   * it back. That there is too little memory is found out here, before anything is measured.
   *
   * @throws org.jofi.fabric.FabricException if there is too little memory
   * @throws org.jofi.transport.TransportException if the NICs refuse it
   */
  public String path() {
    long longest = plan.sizesBytes().stream().mapToLong(Long::longValue).max().orElseThrow();
    int chunkElements = chunkElements(longest);
    RingMemory memory = allocate(longest, chunkElements);
    String path;
    try (RingAllReduce allReduce = new RingAllReduce(links, memory, chunkElements, plan.window())) {
      path = joined(allReduce.paths());
    }
    memory.close();
    return path;
  }

  /**
   * Paths in words, as one. Of those that differ in their reasons only, the first stands for all.
   */
  public static String joined(List<String> paths) {
    Map<String, String> ways = new LinkedHashMap<>();
    for (String path : paths) {
      int reason = path.indexOf(';');
      ways.putIfAbsent(reason < 0 ? path : path.substring(0, reason), path);
    }
    return String.join("; ", ways.values());
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
    int chunkElements = chunkElements(bytes);
    RingSchedule schedule = new RingSchedule(rank, ranks, elements, chunkElements);
    int warmup = plan.warmup(bytes);
    long[] nanos = new long[plan.iterations(bytes)];
    long wrong = 0;
    RingMemory memory = allocate(bytes, chunkElements);
    AllReduceRow row;
    try (RingAllReduce allReduce = new RingAllReduce(links, memory, chunkElements, plan.window())) {
      for (int round = 0; round < warmup + nanos.length; round++) {
        SumPattern.fill(memory.image(), elements, rank, round);
        memory.write();
        barrier.await();
        long before = System.nanoTime();
        allReduce.run(schedule);
        long after = System.nanoTime();
        memory.read();
        wrong += SumPattern.wrong(memory.image(), elements, ranks, round);
        if (round >= warmup) {
          nanos[round - warmup] = after - before;
        }
        progress.accept(++rounds);
      }
      // What neighbours still wait for needs this rank's progress, and its memory.
      row = join(bytes, nanos, wrong);
    }
    // Not after a failure: until the transport is closed, NICs may still be at it.
    memory.close();
    return row;
  }

  private int chunkElements(long bytes) {
    return plan.chunkElements(bytes, ranks);
  }

  private RingMemory allocate(long bytes, int chunkElements) {
    return arrays.allocate(bytes, RingAllReduce.landingBytes(chunkElements, plan.window()));
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
