package org.jofi.cli.allreduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class AllReduceRowTest {
  @Test
  void ratesAreOfTheMedian() {
    AllReduceRow row =
        AllReduceRow.of(4, 4_000_000, new long[] {5_000_000, 1_000_000, 2_000_000}, 3);
    assertEquals(2_000_000, row.medianNanos());
    assertEquals(1_000_000, row.bestNanos());
    assertEquals(2e9, row.algorithmBytesPerSecond());
    assertEquals(3e9, row.busBytesPerSecond());
    assertEquals(3, row.wrong());
    assertEquals(15, AllReduceRow.of(2, 4, new long[] {10, 20}, 0).medianNanos());
    assertEquals(0, AllReduceRow.of(1, 4, new long[] {10}, 0).busBytesPerSecond());
  }

  @Test
  void pathsAreToldOnce() {
    assertEquals("direct", AllReduceRun.joined(List.of("direct", "direct")));
    assertEquals(
        "staged; refused: 0x1; direct",
        AllReduceRun.joined(List.of("staged; refused: 0x1", "staged; refused: 0x2", "direct")));
  }

  @Test
  void longArraysTakeFewerRounds() {
    AllReducePlan plan = new AllReducePlan(List.of(4L, 1L << 30), 0, -1, 1 << 20, 4);
    assertEquals(500, plan.iterations(4));
    assertEquals(50, plan.warmup(4));
    assertEquals(5, plan.iterations(1L << 30));
    assertEquals(2, plan.warmup(1L << 30));
    assertEquals(557, plan.rounds());
    assertThrows(IllegalArgumentException.class, () -> new AllReducePlan(List.of(6L), 0, -1, 4, 4));
    assertThrows(IllegalArgumentException.class, () -> new AllReducePlan(List.of(4L), 0, -1, 3, 4));
    assertThrows(IllegalArgumentException.class, () -> new AllReducePlan(List.of(4L), 0, -1, 4, 0));
  }
}
