package org.jofi.cli.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FaultChoiceTest {
  private static final Set<FaultKind> ALL = EnumSet.allOf(FaultKind.class);
  private static final Set<FaultKind> OF_RANKS = EnumSet.of(FaultKind.STOP, FaultKind.KILL);

  private static FaultChoice choose(int rails, String provider, String network, String loss) {
    return FaultChoice.of(ALL, rails, provider, () -> network, () -> loss);
  }

  @Test
  void allIsPermittedWhereNothingIsInTheWay() {
    FaultChoice choice = choose(2, "net", "", "");
    assertEquals(ALL, choice.permitted());
    assertTrue(choice.leftOut().isEmpty());
  }

  @Test
  void whatAnotherCommandLineWouldPermitIsUsage() {
    for (FaultChoice choice :
        new FaultChoice[] {choose(1, "net", "", ""), choose(4, "shm", "", "")}) {
      assertEquals(OF_RANKS, choice.permitted());
      assertEquals(1, choice.leftOut().size());
      assertTrue(choice.leftOut().getFirst().isUsage());
    }
  }

  @Test
  void whatTheMachineLacksIsNamed() {
    FaultChoice none = choose(4, "tcp", "Operation not permitted", "");
    assertEquals(OF_RANKS, none.permitted());
    assertTrue(none.leftOut().getFirst().toString().contains("Operation not permitted"));
    assertTrue(!none.leftOut().getFirst().isUsage());
    FaultChoice noLoss = choose(4, "tcp", "", "unknown qdisc");
    assertEquals(EnumSet.complementOf(EnumSet.of(FaultKind.LOSS)), noLoss.permitted());
    assertEquals(EnumSet.of(FaultKind.LOSS), noLoss.leftOut().getFirst().kinds());
  }

  /** Making namespaces takes a while, and root. */
  @Test
  void whoWantsNoFaultOfARailAsksForNoNetwork() {
    FaultChoice choice =
        FaultChoice.of(
            OF_RANKS,
            4,
            "net",
            () -> {
              throw new AssertionError("asked");
            },
            () -> "");
    assertEquals(OF_RANKS, choice.permitted());
  }
}
