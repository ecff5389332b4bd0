package org.jofi.cli.allreduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.jofi.cli.ranks.Partners;
import org.junit.jupiter.api.Test;

class AllReducePlanTest {
  private static final long SHORT = Algorithm.LONGEST_DOUBLING;

  private static AllReducePlan plan(Algorithm algorithm, Long... sizes) {
    return new AllReducePlan(List.of(sizes), 0, -1, 1 << 20, 4, algorithm);
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
        () -> new AllReducePlan(List.of(bytes), 0, -1, chunk, window, Algorithm.AUTO));
  }

  @Test
  void shortArraysAreDoubled() {
    AllReducePlan auto = plan(Algorithm.AUTO, SHORT, SHORT + 4);
    assertEquals(Algorithm.DOUBLING, auto.algorithm(SHORT));
    assertEquals(Algorithm.RING, auto.algorithm(SHORT + 4));
    assertEquals(Algorithm.RING, plan(Algorithm.RING, 4L).algorithm(4));
    assertEquals(Algorithm.DOUBLING, plan(Algorithm.DOUBLING, 1L << 30).algorithm(1L << 30));
  }

  /** The shortest, and what else is other code: a ring, and messages that wait for receives. */
  @Test
  void whatIsPreparedIsWhatRuns() {
    assertPrepared(List.of("4 DOUBLING 100"), 4032, 4L, 64L);
    assertPrepared(List.of("4 DOUBLING 100", "4036 DOUBLING 10"), 4032, 4L, SHORT);
    assertPrepared(List.of("4 DOUBLING 100", "98304 RING 10"), 65472, 4L, 96L << 10, 100L << 10);
    assertPrepared(
        List.of("4 DOUBLING 100", "4036 DOUBLING 10", "8072 RING 10"), 4032, SHORT, SHORT + 4);
    assertPrepared(List.of("4 RING 100", "98304 RING 10"), 65472, 96L << 10);
    assertPrepared(List.of("4 RING 100", "8 RING 10"), 0, 1L << 20);
  }

  private static void assertPrepared(List<String> expected, int eagerBytes, Long... sizes) {
    assertEquals(
        expected,
        plan(Algorithm.AUTO, sizes).forPreparation(100, 2, eagerBytes).stream()
            .map(AllReducePlanTest::line)
            .toList());
  }

  private static String line(AllReducePlan plan) {
    long bytes = plan.sizesBytes().getFirst();
    return "%d %s %d".formatted(bytes, plan.algorithm(bytes), plan.iterations());
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
