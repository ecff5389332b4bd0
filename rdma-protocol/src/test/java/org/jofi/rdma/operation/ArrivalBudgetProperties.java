package org.jofi.rdma.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class ArrivalBudgetProperties {
  private static final int ENTRIES = 64;

  /** A connection that announces receives of some lengths as there is room. */
  private static final class Announcing extends Task {
    final ArrayDeque<Integer> wanted = new ArrayDeque<>();
    final ArrayDeque<Integer> announced = new ArrayDeque<>();
    final ArrivalBudget.Share share;

    Announcing(ArrivalBudget budget) {
      share = budget.share(this);
    }

    @Override
    protected boolean advance() {
      while (!wanted.isEmpty()) {
        if (!share.take(wanted.getFirst())) {
          return true;
        }
        announced.add(wanted.removeFirst());
      }
      share.served();
      return true;
    }

    int sum() {
      return announced.stream().mapToInt(Integer::intValue).sum();
    }
  }

  /** Whatever is announced and ends, room is not exceeded, and all that waits has its turn. */
  @Property(tries = 500)
  void roomIsNotExceededAndEachHasItsTurn(
      @ForAll Random random, @ForAll @IntRange(min = 1, max = 6) int connections) {
    Tasks tasks = new Tasks();
    ArrivalBudget budget = new ArrivalBudget(ENTRIES, tasks);
    List<Announcing> all = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      all.add(new Announcing(budget));
    }
    for (int step = 0; step < 300; step++) {
      Announcing one = all.get(random.nextInt(connections));
      switch (random.nextInt(3)) {
        case 0 -> {
          one.wanted.add(1 + random.nextInt(8));
          one.advance();
        }
        case 1 -> {
          if (!one.announced.isEmpty()) {
            one.share.give(one.announced.removeFirst());
          }
        }
        default -> tasks.run();
      }
      int sum = all.stream().mapToInt(Announcing::sum).sum();
      assertEquals(sum, budget.announced());
      assertTrue(sum <= ENTRIES * 3 / 4, () -> "announced " + sum);
    }
    // Receives end one by one: those of one connection alone, of each in turn.
    for (int round = 0; all.stream().anyMatch(one -> !one.wanted.isEmpty()); round++) {
      assertTrue(round < 100_000, "something waits for ever");
      tasks.run();
      Announcing one = all.get(round % connections);
      if (!one.announced.isEmpty()) {
        one.share.give(one.announced.removeFirst());
      }
    }
  }

  /** Others hold all of the common room and never give it back. */
  @Property(tries = 100)
  void whoHasAnnouncedNothingIsNotHeldUpByOthers(
      @ForAll @IntRange(min = 1, max = 8) int arrivals,
      @ForAll @IntRange(min = 1, max = 50) int n) {
    Tasks tasks = new Tasks();
    ArrivalBudget budget = new ArrivalBudget(ENTRIES, tasks);
    Announcing hog = new Announcing(budget);
    for (int i = 0; i < 2 * ENTRIES; i++) {
      hog.wanted.add(1);
    }
    hog.advance();
    Announcing other = new Announcing(budget);
    for (int i = 0; i < n; i++) {
      other.wanted.add(arrivals);
    }
    other.advance();
    for (int i = 0; i < n; i++) {
      tasks.run();
      other.share.give(other.announced.removeFirst());
    }
    assertTrue(other.wanted.isEmpty());
  }
}
