package org.jofi.cli.soak;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Which faults come, one after another, and how long the pauses between them are. The same seed
 * gives the same ones. For one thread.
 */
final class FaultPlan {
  private static final int LEAST_MILLIS = 300;
  private static final int MOST_RAIL_MILLIS = 10_000;

  /** Well below the time after which a silent peer counts as lost, 10 s. */
  private static final int MOST_STOP_MILLIS = 5_000;

  private static final int LEAST_PAUSE_MILLIS = 200;
  private static final int MOST_PAUSE_MILLIS = 4_000;
  private static final int MOST_LOSS_PERCENT = 5;

  /**
   * What comes next.
   *
   * @param pauseMillis the pause before it, since the one before began
   */
  record Planned(int pauseMillis, Fault fault) {}

  private final SplittableRandom random;
  private final List<FaultKind> kinds;
  private final int ranks;
  private final int rails;

  /**
   * @param kinds which come; with none of them, nothing does
   */
  FaultPlan(long seed, Set<FaultKind> kinds, int ranks, int rails) {
    this.random = new SplittableRandom(seed);
    this.kinds = List.copyOf(kinds);
    this.ranks = ranks;
    this.rails = rails;
  }

  /** The next one; empty if none comes. */
  Optional<Planned> next() {
    if (kinds.isEmpty()) {
      return Optional.empty();
    }
    // All are drawn in any case, so that what follows does not depend on what this is.
    int pause = random.nextInt(LEAST_PAUSE_MILLIS, MOST_PAUSE_MILLIS + 1);
    int drawn = random.nextInt(kinds.stream().mapToInt(FaultKind::weight).sum());
    int rank = random.nextInt(ranks);
    int rail = random.nextInt(rails);
    double length = random.nextDouble();
    int percent = random.nextInt(1, MOST_LOSS_PERCENT + 1);
    boolean slower = random.nextBoolean();
    FaultKind kind = kind(drawn);
    Fault fault =
        switch (kind) {
          case CUT, BLACKHOLE -> new Fault(kind, rank, rail, millis(length, MOST_RAIL_MILLIS), 0);
          case LOSS -> new Fault(kind, rank, rail, millis(length, MOST_RAIL_MILLIS), percent);
          case SLOW ->
              new Fault(kind, rank, rail, millis(length, MOST_RAIL_MILLIS), slower ? 100 : 10);
          case STOP -> new Fault(kind, rank, -1, millis(length, MOST_STOP_MILLIS), 0);
          case KILL -> new Fault(kind, rank, -1, 0, 0);
        };
    return Optional.of(new Planned(pause, fault));
  }

  private FaultKind kind(int drawn) {
    int left = drawn;
    for (FaultKind kind : kinds) {
      left -= kind.weight();
      if (left < 0) {
        return kind;
      }
    }
    throw new AssertionError(drawn);
  }

  private static int millis(double length, int most) {
    return LEAST_MILLIS + (int) (length * (most - LEAST_MILLIS));
  }
}
