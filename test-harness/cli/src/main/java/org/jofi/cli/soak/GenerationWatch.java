package org.jofi.cli.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A generation, seen from the process that started the ranks: it lets them meet, injects faults
 * meanwhile, and finds what does not hold. For one thread.
 */
final class GenerationWatch {
  /** A rank may be silent for as long as it may wait, be stopped, and close; and for some more. */
  private static final long SILENCE_MARGIN_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** What a failure is about may become known after it: a process that ended, for example. */
  private static final long ROOT_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(3);

  private static final long DUMP_MILLIS = 1_000;

  /** Longer than a peer may be silent, and be stopped before that. */
  private static final long NOTICED_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final List<RankHandle> ranks;
  private final BlockingQueue<RankHandle.Heard> heard;
  private final FaultInjector injector;
  private final Tally tally;
  private final Consumer<String> story;
  private final Order meet;
  private final long silenceNanos;
  private final long beganAt;
  private final long[] roundAt;
  private int joined;
  private boolean finishing;

  /**
   * @param story takes a line about each thing that happens
   * @param timeoutNanos how long a rank waits without progress
   * @param beganAt when the run began
   */
  GenerationWatch(
      List<RankHandle> ranks,
      BlockingQueue<RankHandle.Heard> heard,
      FaultInjector injector,
      Tally tally,
      Consumer<String> story,
      Order meet,
      long timeoutNanos,
      long beganAt) {
    this.ranks = ranks;
    this.heard = heard;
    this.injector = injector;
    this.tally = tally;
    this.story = story;
    this.meet = meet;
    this.silenceNanos = timeoutNanos + SILENCE_MARGIN_NANOS;
    this.beganAt = beganAt;
    this.roundAt = new long[ranks.size()];
  }

  /**
   * Runs it.
   *
   * @param injects whether faults may come
   * @param finish asked again and again whether it is to end early
   * @throws DifferenceException at the first thing that does not hold
   */
  void run(boolean injects, BooleanSupplier finish) {
    ranks.forEach(RankHandle::begun);
    ranks.getFirst().send(meet);
    while (!ranks.stream().allMatch(RankHandle::isOver)) {
      RankHandle.Heard one = RankHandle.Heard.next(heard);
      if (one != null) {
        take(one);
      }
      requireWords();
      if (!finishing && finish.getAsBoolean()) {
        finishing = true;
        ranks.getFirst().send(Order.of(Order.Kind.FINISH, meet.generation()));
      }
      boolean kills = joined == ranks.size() && lost().isEmpty() && !finishing;
      injector.tick(injects && !finishing, kills);
    }
    tally.generation(!lost().isEmpty());
  }

  private List<Integer> lost() {
    return ranks.stream().filter(RankHandle::isKilled).map(RankHandle::rank).toList();
  }

  private void take(RankHandle.Heard one) {
    RankHandle rank = ranks.get(one.rank());
    Report report = one.report();
    if (!rank.note(one) || rank.isKilled()) {
      return;
    }
    switch (report.kind()) {
      case SERVING ->
          ranks.stream().skip(1).forEach(each -> each.send(meet.at((int) report.number())));
      case JOINED -> joined++;
      case ROUND -> roundAt[one.rank()] = System.nanoTime();
      case CHECKED -> {
        tally.checked(report.text(), report.number(), one.rank() == 0);
        tally.took(
            (System.nanoTime() - roundAt[one.rank()]) / 1e9,
            "%s of rank %d, generation %d, round %d, amid %s"
                .formatted(
                    report.text(),
                    one.rank(),
                    report.generation(),
                    report.round(),
                    injector.around()));
      }
      case LOST, FAILED -> failed(one, rank);
      case WRONG, EXITED, UNAVAILABLE -> throw difference(one);
      case ABORTED -> aborted(rank, report);
      case READY, CONNECTED, DONE -> {
        // Noted, and nothing to do about.
      }
    }
  }

  private void failed(RankHandle.Heard one, RankHandle rank) {
    List<Integer> lost = lost();
    if (lost.isEmpty()) {
      throw difference(rootOf(one));
    }
    long killedAt = ranks.get(lost.getFirst()).killedAt();
    if (System.nanoTime() - killedAt > NOTICED_WITHIN_NANOS) {
      throw difference(
          one,
          "noticed only after %d s that rank %d was killed: %s"
              .formatted(
                  (System.nanoTime() - killedAt) / 1_000_000_000,
                  lost.getFirst(),
                  one.report().text()));
    }
    rank.send(Order.abort(meet.generation(), lost));
  }

  private void aborted(RankHandle rank, Report report) {
    story.accept(
        String.format(
            Locale.ROOT,
            "           rank %d, %.1f s after the kill: %s; aborted within %.1f s",
            rank.rank(),
            (System.nanoTime() - ranks.get(lost().getFirst()).killedAt()) / 1e9,
            report.text().isEmpty() ? "nothing was connected" : report.text(),
            report.number() / 1e3));
    // "send to rank 1: PEER_LOST after 0.3 s"
    for (String each : report.text().split("; ", -1)) {
      if (!each.isEmpty()) {
        tally.ending(
            each.replaceAll(" to rank .*: | from rank .*: ", ": ").replaceAll(" after .*", ""));
      }
    }
  }

  /** Of what is heard within a short time, that which explains the rest. */
  private RankHandle.Heard rootOf(RankHandle.Heard first) {
    List<RankHandle.Heard> all = new ArrayList<>(List.of(first));
    long deadline = System.nanoTime() + ROOT_WITHIN_NANOS;
    while (System.nanoTime() - deadline < 0) {
      RankHandle.Heard more = RankHandle.Heard.next(heard);
      if (more != null && ranks.get(more.rank()).note(more)) {
        all.add(more);
      }
    }
    for (Report.Kind kind : List.of(Report.Kind.EXITED, Report.Kind.WRONG, Report.Kind.FAILED)) {
      for (RankHandle.Heard each : all) {
        if (each.report().kind() == kind) {
          return each;
        }
      }
    }
    return first;
  }

  private void requireWords() {
    long now = System.nanoTime();
    for (RankHandle rank : ranks) {
      if (!rank.isOver() && now - rank.heardAt() > silenceNanos) {
        // The JVM writes what its threads do to the rank's log.
        MachineCommand.run("kill -QUIT " + rank.pid());
        pause(DUMP_MILLIS);
        throw new DifferenceException(
            difference(
                rank,
                "it hangs: silent for %d s after %s %s; its log has a dump of its threads"
                    .formatted(
                        silenceNanos / 1_000_000_000, rank.last().kind(), rank.last().text())));
      }
    }
  }

  private static void pause(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private DifferenceException difference(RankHandle.Heard one) {
    String words =
        one.report().kind() == Report.Kind.EXITED
            ? "it ended by itself, " + one.report().text() + lastWords(ranks.get(one.rank()))
            : one.report().text();
    return difference(one, words);
  }

  private static String lastWords(RankHandle rank) {
    String words = rank.lastWords();
    return words.isEmpty() ? "" : "; its last words:\n" + words;
  }

  private DifferenceException difference(RankHandle.Heard one, String what) {
    return new DifferenceException(difference(ranks.get(one.rank()), what));
  }

  private Difference difference(RankHandle rank, String what) {
    return Difference.of(rank, meet.generation(), what, beganAt, injector);
  }
}
