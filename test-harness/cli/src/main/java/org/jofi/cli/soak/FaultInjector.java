package org.jofi.cli.soak;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import java.util.function.IntToLongFunction;
import org.jofi.transport.NanoClock;

/**
 * Injects what is planned, and mends it when its time is over. At least one rail is sound between
 * all ranks at any time. For one thread.
 */
final class FaultInjector {
  /** Faults that were mended so recently may still explain what happens. */
  private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long SETTLING_MILLIS = 2_000;

  /**
   * What the injector asks and does of ranks.
   *
   * @param pid of a rank's process
   * @param kill kills a rank
   * @param isRailUsed whether all ranks use this rail, as far as they said
   */
  record Ranks(IntToLongFunction pid, IntConsumer kill, IntPredicate isRailUsed) {}

  /** A fault that was injected: until when, and when that is. */
  private record Active(Fault fault, long endsAt) {}

  private final FaultPlan plan;
  private final NanoClock clock;
  private final Optional<? extends RailFaults> network;
  private final Ranks ranks;
  private final Consumer<String> story;
  private final long beganAt;
  private final long[] soundAt;
  private final List<Active> active = new ArrayList<>();
  private final List<Active> over = new ArrayList<>();
  private final List<String> history = new ArrayList<>();
  private final Map<FaultKind, Integer> counts = new EnumMap<>(FaultKind.class);
  private Optional<FaultPlan.Planned> next;
  private long nextAt;
  private int withheld;

  /**
   * @param network the rails; empty if no fault is of a rail
   * @param clock the time
   * @param story takes a line about each fault
   */
  FaultInjector(
      FaultPlan plan,
      Optional<? extends RailFaults> network,
      int rails,
      Ranks ranks,
      NanoClock clock,
      Consumer<String> story) {
    this.clock = clock;
    this.plan = plan;
    this.network = network;
    this.ranks = ranks;
    this.story = story;
    this.beganAt = clock.nanoTime();
    this.soundAt = new long[rails];
    Arrays.fill(soundAt, beganAt);
    next = plan.next();
    nextAt = beganAt + pauseNanos();
  }

  private long pauseNanos() {
    return nanos(next.map(FaultPlan.Planned::pauseMillis).orElse(0));
  }

  /**
   * Mends what is over, and injects what is due.
   *
   * @param injects whether faults may be injected now
   * @param kills whether ranks may be killed now
   */
  void tick(boolean injects, boolean kills) {
    long now = clock.nanoTime();
    for (Active each : List.copyOf(active)) {
      if (now - each.endsAt >= 0) {
        mend(each, now);
      }
    }
    over.removeIf(each -> now - each.endsAt > RECENT_NANOS);
    if (!injects || next.isEmpty() || now - nextAt < 0) {
      return;
    }
    Fault fault = next.get().fault();
    if (isPossible(fault, kills, now)) {
      inject(fault, now);
    } else {
      withheld++;
    }
    next = plan.next();
    nextAt = now + pauseNanos();
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private boolean isPossible(Fault fault, boolean kills, long now) {
    return switch (fault.kind()) {
      case KILL -> kills;
      case STOP ->
          active.stream()
              .noneMatch(
                  each -> each.fault.kind() == FaultKind.STOP && each.fault.rank() == fault.rank());
      case CUT, BLACKHOLE, LOSS, SLOW -> !isFaulty(fault.rail()) && leavesOne(fault.rail(), now);
    };
  }

  private boolean isFaulty(int rail) {
    return active.stream().anyMatch(each -> each.fault.rail() == rail);
  }

  /** Whether another rail is sound, has been so for long enough, and is used by all. */
  private boolean leavesOne(int rail, long now) {
    for (int other = 0; other < soundAt.length; other++) {
      if (other != rail
          && !isFaulty(other)
          && now - soundAt[other] >= 0
          && ranks.isRailUsed.test(other)) {
        return true;
      }
    }
    return false;
  }

  private void inject(Fault fault, long now) {
    switch (fault.kind()) {
      case CUT -> rails().cut(fault.rank(), fault.rail());
      case BLACKHOLE -> rails().swallow(fault.rank(), fault.rail());
      case LOSS -> rails().lose(fault.rank(), fault.rail(), fault.amount());
      case SLOW -> rails().slow(fault.rank(), fault.rail(), fault.amount());
      case STOP -> stop(fault);
      case KILL -> ranks.kill.accept(fault.rank());
    }
    counts.merge(fault.kind(), 1, Integer::sum);
    Active begun = new Active(fault, now + nanos(fault.millis()));
    if (fault.kind() == FaultKind.KILL) {
      over.add(begun);
    } else {
      active.add(begun);
    }
    String line = String.format(Locale.ROOT, "%7.1f s: %s", (now - beganAt) / 1e9, fault);
    history.add(line.strip());
    story.accept(line);
  }

  private RailFaults rails() {
    return network.orElseThrow();
  }

  /**
   * A process of its own lets the rank go on, so that none stays stopped if this one is killed: a
   * stopped rank would not notice that.
   */
  private void stop(Fault fault) {
    long pid = ranks.pid.applyAsLong(fault.rank());
    String script =
        String.format(
            Locale.ROOT,
            "kill -STOP %d && sleep %.3f; kill -CONT %d",
            pid,
            fault.millis() / 1e3,
            pid);
    try {
      new ProcessBuilder("sh", "-c", script)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .redirectError(ProcessBuilder.Redirect.DISCARD)
          .start();
    } catch (IOException e) {
      throw new IllegalStateException("cannot stop a rank: " + e.getMessage(), e);
    }
  }

  private void mend(Active each, long now) {
    Fault fault = each.fault;
    if (fault.kind().isOfRail()) {
      rails().mend(fault.rank(), fault.rail());
      // TCP doubles its pauses as long as nothing comes back, so it may be silent for as long
      // again.
      soundAt[fault.rail()] = now + nanos(fault.millis() + SETTLING_MILLIS);
    }
    active.remove(each);
    over.add(new Active(fault, now));
  }

  /**
   * Mends what is wrong with the rails of a rank that is to be started: while a link is down, its
   * NIC is not there to be opened.
   */
  void mend(int rank) {
    long now = clock.nanoTime();
    for (Active each : List.copyOf(active)) {
      if (each.fault.rank() == rank && each.fault.kind().isOfRail()) {
        mend(each, now);
      }
    }
  }

  /** Mends all at once. */
  void mendAll() {
    long now = clock.nanoTime();
    for (Active each : List.copyOf(active)) {
      if (each.fault.kind() != FaultKind.STOP) {
        mend(each, now);
      }
    }
    // A rank that is stopped goes on by itself.
    active.clear();
  }

  /** What is wrong now, or was shortly before. */
  List<String> around() {
    List<String> all = new ArrayList<>();
    active.forEach(each -> all.add(each.fault.toString()));
    long now = clock.nanoTime();
    over.stream()
        .filter(each -> now - each.endsAt <= RECENT_NANOS)
        .forEach(
            each ->
                all.add(
                    String.format(
                        Locale.ROOT,
                        "%s (over for %.1f s)",
                        each.fault,
                        (now - each.endsAt) / 1e9)));
    return all;
  }

  /** How many of each kind were injected. */
  Map<FaultKind, Integer> counts() {
    return new EnumMap<>(counts);
  }

  /** How many were not injected because no rail would have been left, or for similar reasons. */
  int withheld() {
    return withheld;
  }

  /** All that were injected. */
  List<String> history() {
    return List.copyOf(history);
  }
}
