package org.jofi.cli.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FaultInjectorTest {
  private static final int RANKS = 3;
  private static final long STEP = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long TICKS = TimeUnit.MINUTES.toNanos(20) / STEP;

  /** Which rails are faulty, at which ranks. */
  private static final class Rails implements RailFaults {
    final Set<List<Integer>> faulty = new TreeSet<>((a, b) -> a.toString().compareTo(b.toString()));

    private void begin(int rank, int rail) {
      assertTrue(faulty.add(List.of(rank, rail)), "a fault on top of another");
    }

    @Override
    public void cut(int rank, int rail) {
      begin(rank, rail);
    }

    @Override
    public void swallow(int rank, int rail) {
      begin(rank, rail);
    }

    @Override
    public void lose(int rank, int rail, int percent) {
      begin(rank, rail);
    }

    @Override
    public void slow(int rank, int rail, int part) {
      begin(rank, rail);
    }

    @Override
    public void mend(int rank, int rail) {
      assertTrue(faulty.remove(List.of(rank, rail)), "mended without a fault");
    }

    boolean isFaulty(int rail) {
      return faulty.stream().anyMatch(each -> each.get(1) == rail);
    }
  }

  /** A run of virtual time. */
  private static final class Run {
    final Rails rails = new Rails();
    final List<Integer> killed = new ArrayList<>();
    final List<String> story = new ArrayList<>();
    final Set<Integer> unused = new TreeSet<>();
    final int count;
    final FaultInjector injector;
    long now;

    Run(int count, Set<FaultKind> kinds) {
      this.count = count;
      injector =
          new FaultInjector(
              new FaultPlan(5, kinds, RANKS, count),
              Optional.of(rails),
              count,
              new FaultInjector.Ranks(rank -> 0, killed::add, rail -> !unused.contains(rail)),
              () -> now,
              story::add);
    }

    boolean hasSoundRail() {
      for (int rail = 0; rail < count; rail++) {
        if (!rails.isFaulty(rail) && !unused.contains(rail)) {
          return true;
        }
      }
      return false;
    }
  }

  private static final Set<FaultKind> ALL_BUT_STOPS =
      EnumSet.complementOf(EnumSet.of(FaultKind.STOP));

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 8})
  void oneRailIsSoundAtAnyTimeAndEachIsFaultyAtTimes(int count) {
    Run run = new Run(count, ALL_BUT_STOPS);
    Set<Integer> hit = new TreeSet<>();
    for (long tick = 0; tick < TICKS; tick++) {
      run.now += STEP;
      run.injector.tick(true, true);
      assertTrue(run.hasSoundRail(), () -> "none is sound: " + run.story);
      run.rails.faulty.forEach(each -> hit.add(each.get(1)));
    }
    assertEquals(count, hit.size());
    assertEquals(ALL_BUT_STOPS, run.injector.counts().keySet());
    assertEquals(
        run.story.size(),
        run.injector.counts().values().stream().mapToInt(Integer::intValue).sum());
    assertFalse(run.killed.isEmpty());
    assertFalse(run.injector.around().isEmpty());
    run.injector.mendAll();
    assertEquals(Set.of(), run.rails.faulty);
  }

  /** A rail that the ranks do not use yet is no rail that may be the last. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void aRailThatIsNotUsedDoesNotCountAsSound(int count) {
    Run run = new Run(count, ALL_BUT_STOPS);
    for (int rail = 1; rail < count; rail++) {
      run.unused.add(rail);
    }
    for (long tick = 0; tick < TICKS; tick++) {
      run.now += STEP;
      run.injector.tick(true, false);
      assertFalse(run.rails.isFaulty(0), () -> "the last rail is faulty: " + run.story);
    }
    assertEquals(List.of(), run.killed);
    assertTrue(run.injector.withheld() > 0);
  }
}
