package org.jofi.cli.collectives;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.cli.ranks.Told;
import org.jofi.collectives.Collective;
import org.jofi.collectives.Group;
import org.jofi.collectives.Plan;
import org.jofi.collectives.schedule.Operation;

/**
 * One rank's part of a run. For each operation and length it fills, runs, checks and measures. All
 * ranks run it. For one thread.
 */
public final class CollectivesRun {
  private final CollectivesPlan plan;
  private final Group group;
  private final RingLinks links;
  private final MeasuredArray.Allocator arrays;
  private final Plan barrier;
  private final Contributions moved;
  private final Contributions reduced;
  private final List<Measurement> rehearsed = new ArrayList<>();
  private List<CollectivesPlan.Rehearsal> rehearsals = List.of();

  /**
   * @param plan what to run, checked; the same for all ranks
   * @param group of all ranks
   * @param links the connections to the neighbours, over which results are gathered
   * @param arrays allocates the memory of what is measured
   */
  public CollectivesRun(
      CollectivesPlan plan, Group group, RingLinks links, MeasuredArray.Allocator arrays) {
    this.arrays = arrays;
    this.plan = plan;
    this.group = group;
    this.links = links;
    barrier = group.plan(Collective.barrier(), MemorySegment.NULL, MemorySegment.NULL);
    moved = new Contributions(plan.type(), null, group.size());
    reduced =
        plan.operations().stream().anyMatch(each -> Operation.of(each, 1).isReduction())
            ? new Contributions(plan.type(), plan.reduction(), group.size())
            : moved;
  }

  /**
   * Runs what the measured operations run, so that the JIT compiler sees it.
   *
   * @param rounds how many rounds of each operation
   * @param each takes each result
   * @return what a round of each took together, in ns
   */
  public long rehearse(int rounds, Consumer<CollectivesRow> each) {
    if (rehearsed.isEmpty()) {
      int eagerBytes = group.device().properties().limits().eagerBytes();
      rehearsals = plan.rehearsals(group.hosts(), eagerBytes);
      rehearsals.forEach(one -> rehearsed.add(measurement(one.collective(), one.algorithm())));
    }
    long nanos = 0;
    for (int i = 0; i < rehearsed.size(); i++) {
      int count = rehearsals.get(i).often() ? rounds : Math.ceilDiv(rounds, 10);
      CollectivesRow row = measure(rehearsed.get(i), 0, count, done -> {});
      each.accept(row);
      nanos += row.medianNanos();
    }
    return nanos;
  }

  /**
   * Runs it.
   *
   * @param progress is called with the number of finished rounds
   * @param each takes each result as soon as it is known; called on every rank
   * @throws org.jofi.cli.ranks.RankFailure if this rank fails
   * @throws org.jofi.ranks.RanksException if another rank is lost
   * @throws org.jofi.transport.TransportException if a message fails
   */
  public void run(LongConsumer progress, Consumer<CollectivesRow> each) {
    rehearsed.forEach(Measurement::close);
    rehearsed.clear();
    int ranks = group.size();
    long before = 0;
    for (Operation.Kind kind : plan.operations()) {
      for (Collective collective : plan.collectives(kind, ranks)) {
        int warmup = plan.warmup(collective, ranks);
        int iterations = plan.iterations(collective, ranks);
        long finished = before;
        Measurement measurement = measurement(collective, plan.algorithm());
        each.accept(
            measure(measurement, warmup, iterations, done -> progress.accept(finished + done)));
        measurement.close();
        before += (long) warmup + iterations;
      }
    }
  }

  private Measurement measurement(Collective collective, String algorithm) {
    return new Measurement(
        group,
        collective,
        algorithm,
        collective.reduction() == null ? moved : reduced,
        arrays,
        plan.inPlace());
  }

  private CollectivesRow measure(
      Measurement measurement, int warmup, int iterations, LongConsumer progress) {
    long[] nanos = new long[iterations];
    long wrong = 0;
    for (int round = 0; round < warmup + iterations; round++) {
      measurement.prepare();
      barrier.run();
      long taken = measurement.run();
      wrong += measurement.wrong();
      if (round >= warmup) {
        nanos[round - warmup] = taken;
      }
      progress.accept(round + 1L);
    }
    return join(measurement.plan(), nanos, wrong);
  }

  /**
   * Combines the results of all ranks: a round's time is that of its slowest rank, and wrong
   * elements are added up.
   */
  private CollectivesRow join(Plan measured, long[] nanos, long wrong) {
    // Others may still wait for messages that need this rank's progress, which a barrier makes.
    barrier.run();
    ByteBuffer mine = ByteBuffer.allocate((nanos.length + 1) * Long.BYTES).putLong(wrong);
    mine.asLongBuffer().put(nanos);
    long[] slowest = new long[nanos.length];
    long allWrong = 0;
    for (byte[] part : links.gather(mine.array())) {
      ByteBuffer in = Told.numbers(part, nanos.length + 1);
      allWrong += in.getLong();
      for (int i = 0; i < slowest.length; i++) {
        slowest[i] = Math.max(slowest[i], in.getLong());
      }
    }
    return CollectivesRow.of(
        group.size(),
        measured.collective(),
        measured.algorithm(),
        measured.reason(),
        slowest,
        allWrong);
  }
}
