package org.jofi.cli.allreduce;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
}
