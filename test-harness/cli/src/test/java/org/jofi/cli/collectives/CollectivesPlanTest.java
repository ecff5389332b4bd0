package org.jofi.cli.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jofi.collectives.Collective;
import org.jofi.collectives.DataType;
import org.jofi.collectives.GroupOptions;
import org.jofi.collectives.Reduction;
import org.jofi.collectives.schedule.Hosts;
import org.jofi.collectives.schedule.Operation;
import org.junit.jupiter.api.Test;

class CollectivesPlanTest {
  private static CollectivesPlan plan(List<Operation.Kind> kinds, Long... sizes) {
    return new CollectivesPlan(
        kinds,
        List.of(sizes),
        0,
        -1,
        DataType.F32,
        Reduction.SUM,
        0,
        "",
        GroupOptions.defaults(),
        false);
  }

  private static CollectivesPlan all(Long... sizes) {
    return plan(Arrays.asList(Operation.Kind.values()), sizes);
  }

  /** As nccl-tests print them. */
  @Test
  void aSizeIsThatOfTheLongestArray() {
    CollectivesPlan plan = all(4L, 8L, 1000L);
    assertEquals(
        List.of(
            "all-reduce of 1 F32, sum", "all-reduce of 2 F32, sum", "all-reduce of 250 F32, sum"),
        plan.collectives(Operation.Kind.ALL_REDUCE, 4).stream().map(Object::toString).toList());
    List<Collective> gathers = plan.collectives(Operation.Kind.ALL_GATHER, 4);
    // 4 and 8 bytes are one element for each rank alike.
    assertEquals(
        List.of("all-gather of 1 F32", "all-gather of 62 F32"),
        gathers.stream().map(Object::toString).toList());
    assertEquals(992, CollectivesPlan.bytes(gathers.getLast(), 4));
    assertEquals(List.of(Collective.barrier()), plan.collectives(Operation.Kind.BARRIER, 4));
  }

  @Test
  void bandwidthsOfTheBusAreThoseOfNcclTests() {
    assertEquals(
        "all-reduce 1.50, reduce-scatter 0.75, all-gather 0.75, broadcast 1.00, reduce 1.00,"
            + " gather 0.75, scatter 0.75, all-to-all 0.75, barrier 0.00",
        Arrays.stream(Operation.Kind.values())
            .map(kind -> "%s %.2f".formatted(kind, CollectivesRow.busFactor(kind, 4)))
            .collect(Collectors.joining(", ")));
    CollectivesRow row =
        CollectivesRow.of(
            4, Collective.allGather(DataType.F32, 250), "ring", "", new long[] {3000, 1000}, 0);
    assertEquals(2000, row.medianNanos());
    assertEquals(1000, row.bestNanos());
    assertEquals(2e9, row.algorithmBytesPerSecond());
    assertEquals(1.5e9, row.busBytesPerSecond());
  }

  /**
   * Each algorithm that is measured, and messages that wait for their receives, but no long ones.
   */
  @Test
  void whatIsMeasuredIsRehearsed() {
    CollectivesPlan plan = plan(List.of(Operation.Kind.ALL_REDUCE), 4L, 64L, 1L << 15, 1L << 30);
    assertEquals(
        List.of(
            "all-reduce of 1 F32, sum doubling true",
            "all-reduce of 2050 F32, sum doubling false",
            "all-reduce of 2050 F32, sum ring false"),
        plan.rehearsals(Hosts.unknown(2), 4096 - 5 + 4).stream()
            .map(each -> each.collective() + " " + each.algorithm() + " " + each.often())
            .toList());
  }
}
