package org.jofi.cli.allreduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.jofi.cli.ranks.Partners;
import org.junit.jupiter.api.Test;

class AllReducePlanTest {
  private static final long SHORT = Algorithm.LONGEST_DOUBLING;

  private static AllReducePlan plan(Algorithm algorithm, Long... sizes) {
    return new AllReducePlan(
        List.of(sizes), 0, -1, 1 << 20, 4, algorithm, Algorithm.LONGEST_DOUBLING);
  }

  @Test
  void longArraysTakeFewerRounds() {
    AllReducePlan plan = plan(Algorithm.AUTO, 4L, 1L << 30);
    assertEquals(2000, plan.iterations(4));
    assertEquals(200, plan.warmup(4));
    assertEquals(5, plan.iterations(1L << 30));
    assertEquals(2, plan.warmup(1L << 30));
    assertEquals(2207, plan.rounds());
  }

  @Test
  void whatCannotRunIsRefused() {
    assertRefused(6, 4, 4);
    assertRefused(4, 3, 4);
    assertRefused(4, 4, 0);
  }

  private static void assertRefused(long bytes, int chunk, int window) {
    assertThrows(
        IllegalArgumentException.class,
        () ->
            new AllReducePlan(
                List.of(bytes), 0, -1, chunk, window, Algorithm.AUTO, Algorithm.LONGEST_DOUBLING));
  }

  @Test
  void shortArraysAreDoubled() {
    AllReducePlan auto = plan(Algorithm.AUTO, SHORT, SHORT + 4);
    assertEquals(Algorithm.DOUBLING, auto.algorithm(SHORT));
    assertEquals(Algorithm.RING, auto.algorithm(SHORT + 4));
    assertEquals(Algorithm.RING, plan(Algorithm.RING, 4L).algorithm(4));
    assertEquals(Algorithm.DOUBLING, plan(Algorithm.DOUBLING, 1L << 30).algorithm(1L << 30));
  }

  @Test
  void whatDoesNotLeaveWithoutAReceiveGoesRoundTheRing() {
    AllReducePlan plan = plan(Algorithm.AUTO, 4L);
    assertEquals(Algorithm.DOUBLING, plan.on(4032).algorithm(4032));
    assertEquals(Algorithm.RING, plan.on(4032).algorithm(4036));
    assertEquals(Algorithm.DOUBLING, plan.on(0).algorithm(SHORT));
    assertEquals(Algorithm.RING, plan.on(1 << 20).algorithm(SHORT + 4));
    assertEquals(Algorithm.DOUBLING, plan(Algorithm.DOUBLING, 4L).on(64).algorithm(SHORT));
  }

  @Test
  void partnersAreThereIfALengthNeedsThem() {
    assertEquals(List.of(1, 2), plan(Algorithm.AUTO, SHORT, 1L << 30).partners().of(0, 4));
    assertEquals(Partners.NONE, plan(Algorithm.AUTO, SHORT + 4).partners());
    assertEquals(Partners.NONE, plan(Algorithm.RING, 4L).partners());
  }

  /** Whole arrays, or their segments; two landings, or a window of them. */
  @Test
  void theMemoryIsThatOfTheAlgorithm() {
    assertEquals(1024, plan(Algorithm.DOUBLING, 4096L).chunkElements(4096, 4));
    assertEquals(256, plan(Algorithm.RING, 4096L).chunkElements(4096, 4));
    assertEquals(4096 + 2 * 4096, plan(Algorithm.DOUBLING, 4096L).bytes(4));
    assertEquals(4096 + 4 * 4096, plan(Algorithm.RING, 4096L).bytes(4));
    assertEquals((1L << 30) + (2 << 20), plan(Algorithm.DOUBLING, 1L << 30).bytes(2));
  }
}
