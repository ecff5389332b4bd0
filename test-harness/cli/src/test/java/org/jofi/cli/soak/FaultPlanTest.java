package org.jofi.cli.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FaultPlanTest {
  private static final int RANKS = 3;
  private static final int RAILS = 4;

  private static List<FaultPlan.Planned> planned(long seed, Set<FaultKind> kinds) {
    FaultPlan plan = new FaultPlan(seed, kinds, RANKS, RAILS);
    return Stream.generate(() -> plan.next().orElseThrow()).limit(2000).toList();
  }

  @Test
  void aSeedGivesTheSameFaults() {
    Set<FaultKind> all = EnumSet.allOf(FaultKind.class);
    assertEquals(planned(7, all), planned(7, all));
    assertNotEquals(planned(7, all), planned(8, all));
  }

  @Test
  void onlyWhatIsWantedComesAndAllOfIt() {
    for (Set<FaultKind> kinds :
        List.of(
            EnumSet.allOf(FaultKind.class),
            EnumSet.of(FaultKind.KILL),
            EnumSet.of(FaultKind.CUT, FaultKind.STOP))) {
      assertEquals(
          kinds,
          planned(1, kinds).stream().map(each -> each.fault().kind()).collect(Collectors.toSet()));
    }
    assertEquals(Optional.empty(), new FaultPlan(1, Set.of(), RANKS, RAILS).next());
  }

  /** What lasts longer would be no fault that a rank has to survive. */
  @Test
  void allIsWithinItsBounds() {
    boolean[][] hit = new boolean[RANKS][RAILS];
    for (FaultPlan.Planned each : planned(3, EnumSet.allOf(FaultKind.class))) {
      Fault fault = each.fault();
      assertTrue(each.pauseMillis() >= 200 && each.pauseMillis() <= 4000, each.toString());
      assertTrue(fault.rank() >= 0 && fault.rank() < RANKS, each.toString());
      assertEquals(fault.kind().isOfRail(), fault.rail() >= 0, each.toString());
      int most =
          switch (fault.kind()) {
            case CUT, BLACKHOLE, LOSS, SLOW -> 10_000;
            case STOP -> 5_000;
            case KILL -> 0;
          };
      assertTrue(fault.millis() >= Math.min(300, most) && fault.millis() <= most, each.toString());
      if (fault.kind() == FaultKind.LOSS) {
        assertTrue(fault.amount() >= 1 && fault.amount() <= 5, each.toString());
      }
      if (fault.kind() == FaultKind.SLOW) {
        assertTrue(Set.of(10, 100).contains(fault.amount()), each.toString());
      }
      if (fault.rail() >= 0) {
        hit[fault.rank()][fault.rail()] = true;
      }
    }
    for (boolean[] rails : hit) {
      for (boolean rail : rails) {
        assertTrue(rail, "a rail of a rank is always spared");
      }
    }
  }
}
