package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.cli.ranks.Told;

/**
 * One rank's part of a run. For each length it fills, sums, checks and measures arrays. All ranks
 * run it. For one thread.
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
   * @param plan what to run; the same for all ranks
   * @param links the connections to the other ranks, with {@link AllReducePlan#partners}
   * @param arrays allocates the memory of arrays
   * @param progress is called with the number of finished rounds
   */
  public AllReduceRun(
      AllReducePlan plan, RingLinks links, RingMemory.Allocator arrays, LongConsumer progress) {
    this.plan = plan;
    this.links = links;
    this.arrays = arrays;
    this.progress = progress;
    this.rank = links.ranks().rank();
    this.ranks = links.ranks().size();
  }

  /**
   * How this rank's NICs access the longest array of the plan. The array is allocated, registered
   * and freed again, so that too little memory is noticed before anything is measured.
   *
   * @throws org.jofi.fabric.FabricException if there is too little memory
   * @throws org.jofi.transport.TransportException if the NICs refuse it
   */
  public String path() {
    long longest = plan.sizesBytes().stream().mapToLong(Long::longValue).max().orElseThrow();
    RingMemory memory = allocate(longest);
    String path;
    try (AllReduce allReduce = allReduce(longest, memory)) {
      path = joined(allReduce.paths());
    }
    memory.close();
    return path;
  }

  /**
   * Joins the texts of paths into one. Of texts that differ only in their reasons, only the first
   * is used.
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
   * @param each takes the result of each length as soon as it is known; called on every rank
   * @throws org.jofi.cli.ranks.RankFailure if this rank fails
   * @throws org.jofi.ranks.RanksException if another rank is lost
   */
  public void run(Consumer<AllReduceRow> each) {
    try (RankBarrier barrier = new RankBarrier(links)) {
      for (long bytes : plan.sizesBytes()) {
        each.accept(measure(bytes, barrier));
      }
    }
  }

  private AllReduceRow measure(long bytes, RankBarrier barrier) {
    long elements = bytes / JAVA_FLOAT.byteSize();
    int warmup = plan.warmup(bytes);
    long[] nanos = new long[plan.iterations(bytes)];
    long wrong = 0;
    RingMemory memory = allocate(bytes);
    AllReduceRow row;
    try (AllReduce allReduce = allReduce(bytes, memory)) {
      for (int round = 0; round < warmup + nanos.length; round++) {
        SumPattern.fill(memory.image(), elements, rank, round);
        memory.write();
        barrier.await();
        long before = System.nanoTime();
        allReduce.run();
        long after = System.nanoTime();
        memory.read();
        wrong += SumPattern.wrong(memory.image(), elements, ranks, round);
        if (round >= warmup) {
          nanos[round - warmup] = after - before;
        }
        progress.accept(++rounds);
      }
      // Neighbours may still wait for transfers that need this rank's progress and memory.
      row = join(bytes, nanos, wrong);
    }
    // Not after a failure, because NICs may access the memory until the transport is closed.
    memory.close();
    return row;
  }

  private AllReduce allReduce(long bytes, RingMemory memory) {
    long elements = bytes / JAVA_FLOAT.byteSize();
    int chunkElements = plan.chunkElements(bytes, ranks);
    return plan.algorithm(bytes) == Algorithm.DOUBLING
        ? new DoublingAllReduce(
            links, memory, new DoublingSchedule(rank, ranks), elements, chunkElements)
        : new RingAllReduce(
            links, memory, new RingSchedule(rank, ranks, elements, chunkElements), plan.window());
  }

  private RingMemory allocate(long bytes) {
    return arrays.allocate(bytes, plan.landingBytes(bytes, ranks));
  }

  /**
   * Combines the results of all ranks: a round's time is that of its slowest rank, and wrong
   * elements are added up.
   */
  private AllReduceRow join(long bytes, long[] nanos, long wrong) {
    ByteBuffer mine = ByteBuffer.allocate((nanos.length + 1) * Long.BYTES).putLong(wrong);
    mine.asLongBuffer().put(nanos);
    List<byte[]> all = links.gather(mine.array());
    long[] slowest = new long[nanos.length];
    long allWrong = 0;
    for (byte[] part : all) {
      ByteBuffer in = Told.numbers(part, nanos.length + 1);
      allWrong += in.getLong();
      for (int i = 0; i < slowest.length; i++) {
        slowest[i] = Math.max(slowest[i], in.getLong());
      }
    }
    return AllReduceRow.of(ranks, bytes, slowest, allWrong);
  }
}
