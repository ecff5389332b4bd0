package org.jofi.cli.soak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jofi.cli.ranks.RankProcesses;
import org.jofi.ranks.Placement;
import org.jofi.transport.FailureCause;
import org.jofi.transport.NanoClock;
import org.jofi.transport.TransportException;

/**
 * A soak: it starts ranks, lets them live through generations and faults, starts again those that
 * it killed, and compares the end with the start. For one thread.
 */
public final class Soak implements AutoCloseable {
  /** Enough of each kind of round that what is made once is made: endpoints, pools, classes. */
  private static final int WARM_UP_ROUNDS = 60;

  private static final int LEAST_ROUNDS = 10;
  private static final int MOST_ROUNDS = 400;

  /** How much longer than it was asked to a soak goes on without a fault. */
  private static final long FIRST_FAULT_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static final long OPEN_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** A rail that failed often is tried once in 64 s; twice that, since it may fail once more. */
  private static final long RAILS_BACK_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(130);

  private final SoakOptions options;
  private final Optional<RailNetwork> network;
  private final Consumer<String> story;
  private final LongConsumer progress;
  private final SplittableRandom random;
  private final BlockingQueue<RankHandle.Heard> heard = new LinkedBlockingQueue<>();
  private final List<RankHandle> ranks = new ArrayList<>();
  private final Tally tally = new Tally();
  private final FaultInjector injector;
  private final long beganAt = System.nanoTime();
  private String device = "";
  private int generation;

  /**
   * @param network the rails, if faults of rails are to come
   * @param builder of the process of a rank
   * @param logs a folder for what ranks say
   * @param story takes a line about each thing that happens
   * @param progress takes the seconds that are over
   */
  public Soak(
      SoakOptions options,
      Optional<RailNetwork> network,
      Function<Placement, ProcessBuilder> builder,
      Path logs,
      Consumer<String> story,
      LongConsumer progress) {
    this.options = options;
    this.network = network;
    this.story = story;
    this.progress = progress;
    this.random = new SplittableRandom(options.seed());
    for (int rank = 0; rank < options.ranks(); rank++) {
      Placement placement =
          new Placement(rank, options.ranks(), host(), Placement.USUAL_PORT, "jofi");
      ranks.add(
          new RankHandle(
              placement,
              () -> builder.apply(placement),
              logs.resolve("rank-%d.log".formatted(rank)),
              heard));
    }
    FaultInjector.Ranks of =
        new FaultInjector.Ranks(
            rank -> ranks.get(rank).pid(),
            rank -> ranks.get(rank).kill(),
            rail -> ranks.stream().noneMatch(rank -> rank.railsDown().containsKey(rail)));
    long planSeed = random.nextLong();
    injector =
        new FaultInjector(
            new FaultPlan(planSeed, options.faults(), options.ranks(), options.rails()),
            network,
            options.rails(),
            of,
            NanoClock.system(),
            story);
  }

  private String host() {
    return network.map(each -> each.controlAddress(0)).orElse("127.0.0.1");
  }

  /**
   * Runs it.
   *
   * @throws TransportException with {@link FailureCause#UNAVAILABLE} if something is missing here
   */
  public SoakOutcome run() {
    try {
      ranks.forEach(RankHandle::start);
      awaitReady();
      generation(WARM_UP_ROUNDS, false);
      long deadline = System.nanoTime() + options.length().toNanos();
      while (!isLongEnough(deadline)) {
        generation(random.nextInt(LEAST_ROUNDS, MOST_ROUNDS + 1), deadline);
        restart();
      }
      lastGeneration();
      List<Growth> growth = growth();
      end();
      return outcome(
          options.rails(), growth, growth.stream().flatMap(each -> of(each).stream()).findFirst());
    } catch (DifferenceException e) {
      return outcome(-1, List.of(), Optional.of(e.difference()));
    }
  }

  private void generation(int rounds, boolean injects) {
    watch(rounds).run(injects, () -> false);
    told();
  }

  private void generation(int rounds, long deadline) {
    watch(rounds)
        .run(
            !options.faults().isEmpty(),
            () -> {
              advance();
              return isLongEnough(deadline);
            });
    told();
  }

  /** A soak that no fault came to shows nothing, and a machine that is busy is slow to begin. */
  private boolean isLongEnough(long deadline) {
    long late = System.nanoTime() - deadline;
    boolean lacksFaults = !options.faults().isEmpty() && injector.counts().isEmpty();
    return late >= (lacksFaults ? FIRST_FAULT_WITHIN_NANOS : 0);
  }

  /** Without faults, until all rails are used again. */
  private void lastGeneration() {
    injector.mendAll();
    long deadline = System.nanoTime() + RAILS_BACK_WITHIN_NANOS;
    watch(Integer.MAX_VALUE)
        .run(
            false,
            () ->
                System.nanoTime() - deadline >= 0
                    || ranks.stream()
                        .allMatch(
                            rank ->
                                rank.roundsChecked() >= RoundKind.values().length
                                    && rank.railsDown().isEmpty()));
    told();
    for (RankHandle rank : ranks) {
      if (!rank.railsDown().isEmpty()) {
        throw new DifferenceException(
            difference(
                rank.rank(),
                "rails are not used again %d s after all was mended"
                    .formatted(RAILS_BACK_WITHIN_NANOS / 1_000_000_000)));
      }
    }
  }

  private GenerationWatch watch(int rounds) {
    Order meet =
        new Order(
            Order.Kind.MEET,
            ++generation,
            random.nextLong(),
            rounds,
            host(),
            0,
            RankProcesses.newSecret(),
            List.of());
    return new GenerationWatch(
        ranks, heard, injector, tally, story, meet, options.timeout().toNanos(), beganAt);
  }

  private void told() {
    story.accept(
        String.format(
            Locale.ROOT,
            "%7.1f s: generation %d is over; %d rounds in all",
            (System.nanoTime() - beganAt) / 1e9,
            generation,
            tally.rounds()));
    advance();
  }

  private void advance() {
    progress.accept((System.nanoTime() - beganAt) / 1_000_000_000);
  }

  private void restart() {
    List<RankHandle> killed = ranks.stream().filter(RankHandle::isKilled).toList();
    if (!killed.isEmpty()) {
      for (RankHandle each : killed) {
        injector.mend(each.rank());
        each.start();
      }
      awaitReady();
    }
  }

  private void awaitReady() {
    long deadline = System.nanoTime() + OPEN_WITHIN_NANOS;
    while (!ranks.stream().allMatch(RankHandle::isReady)) {
      injector.tick(false, false);
      RankHandle.Heard one = RankHandle.Heard.next(heard);
      if (one == null) {
        if (System.nanoTime() - deadline > 0) {
          RankHandle late =
              ranks.stream().filter(rank -> !rank.isReady()).findFirst().orElseThrow();
          throw new DifferenceException(
              difference(late.rank(), "it did not open its device within 60 s"));
        }
        continue;
      }
      RankHandle rank = ranks.get(one.rank());
      if (!rank.note(one)) {
        continue;
      }
      Report report = one.report();
      switch (report.kind()) {
        case READY -> device = report.text();
        case UNAVAILABLE ->
            throw new TransportException(
                FailureCause.UNAVAILABLE, "rank %d: %s".formatted(one.rank(), report.text()));
        case EXITED ->
            throw new DifferenceException(
                difference(
                    one.rank(),
                    "it ended before it was ready, %s: %s"
                        .formatted(report.text(), rank.lastWords())));
        default -> {
          // Of a rank that waits for the others.
        }
      }
    }
  }

  /** Lets all ranks close their transports, and end. */
  private void end() {
    ranks.forEach(rank -> rank.send(Order.of(Order.Kind.END, generation)));
    long deadline = System.nanoTime() + OPEN_WITHIN_NANOS;
    int left = ranks.size();
    while (left > 0) {
      RankHandle.Heard one = RankHandle.Heard.next(heard);
      if (one != null
          && ranks.get(one.rank()).note(one)
          && one.report().kind() == Report.Kind.EXITED) {
        left--;
        if (one.report().number() != 0) {
          throw new DifferenceException(
              difference(
                  one.rank(),
                  "it did not end well, %s: %s"
                      .formatted(one.report().text(), ranks.get(one.rank()).lastWords())));
        }
      } else if (System.nanoTime() - deadline > 0) {
        RankHandle late =
            ranks.stream()
                .filter(rank -> rank.last().kind() != Report.Kind.EXITED)
                .findFirst()
                .orElseThrow();
        throw new DifferenceException(
            difference(late.rank(), "closing its transport takes longer than 60 s"));
      }
    }
  }

  private List<Growth> growth() {
    List<Growth> all = new ArrayList<>();
    for (RankHandle rank : ranks) {
      List<Vitals> vitals = rank.vitals();
      all.add(
          Growth.of(
              rank.rank(),
              vitals.getFirst(),
              vitals.getLast(),
              options.ranks() - 1,
              options.rails()));
    }
    return all;
  }

  private Optional<Difference> of(Growth growth) {
    return growth.firstDifference().map(row -> difference(growth.rank(), row.toString()));
  }

  private Difference difference(int rank, String what) {
    return Difference.of(ranks.get(rank), generation, what, beganAt, injector);
  }

  private SoakOutcome outcome(int railsUp, List<Growth> growth, Optional<Difference> difference) {
    return new SoakOutcome(
        options,
        device,
        (System.nanoTime() - beganAt) / 1e9,
        tally,
        injector.counts(),
        injector.withheld(),
        injector.history(),
        ranks.stream().mapToInt(rank -> rank.starts() - 1).sum(),
        railsUp,
        growth,
        difference);
  }

  /** Ends ranks that run still. */
  @Override
  public void close() {
    injector.mendAll();
    ranks.forEach(RankHandle::end);
  }
}
