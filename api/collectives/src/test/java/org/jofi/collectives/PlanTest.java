package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jofi.allocation.Allocation;
import org.jofi.collectives.schedule.Operation;
import org.jofi.ranks.RankLostException;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PlanTest {
  private static final int RUNS = 100;

  /** Over shared memory, in chunks: messages in flight, and work between them. */
  @Test
  void aRunAllocatesNothing() {
    Groups.over(
        "shm",
        2,
        Groups.OPTIONS.withChunkBytes(4096),
        group -> {
          MemorySegment array = Arena.ofAuto().allocate(4 * 10_000, 64);
          Plan plan =
              group.plan(
                  Collective.allReduce(DataType.I32, Reduction.MAX, 10_000), "ring", array, array);
          if (group.rank() == 0) {
            Allocation.assertNone(
                () -> {
                  for (int i = 0; i < RUNS; i++) {
                    plan.run();
                  }
                });
            array.setAtIndex(ValueLayout.JAVA_INT, 0, 1);
          }
          // The other rank goes on until it hears that the first one is done.
          do {
            plan.run();
          } while (array.getAtIndex(ValueLayout.JAVA_INT, 0) == 0);
        });
  }

  /** A rank fails amid an operation of each kind: the others learn who, and go on without it. */
  @ParameterizedTest
  @EnumSource(Operation.Kind.class)
  void ranksGoOnWithoutOneThatFailed(Operation.Kind kind) {
    SimulatedProvider network = new SimulatedProvider();
    AtomicInteger wentOn = new AtomicInteger();
    Groups.run(
        3,
        () ->
            Transport.open(
                network,
                TransportOptions.builder()
                    .provider("simulated-efa")
                    .closeTimeout(Duration.ofSeconds(2))
                    .build()),
        (ranks, device) -> {
          Group group = Group.connect(ranks, device, Groups.OPTIONS.withChunkBytes(1024));
          MemorySegment input = Arena.ofAuto().allocate(3 * 4 * 3000, 64);
          MemorySegment output = Arena.ofAuto().allocate(3 * 4 * 3000, 64);
          Collective collective = collective(kind);
          int lost = kind == Operation.Kind.BARRIER ? 2 : 1;
          if (ranks.rank() == lost) {
            for (int round = 0; round < 3; round++) {
              group.run(collective, input, output);
            }
            Plan plan = group.plan(collective, input, output);
            plan.start();
            plan.poll();
            ranks.fail("on purpose");
            group.abort();
            return;
          }
          RankLostException told =
              assertThrows(
                  RankLostException.class,
                  () -> {
                    while (true) {
                      group.run(collective, input, output);
                    }
                  });
          assertEquals(lost, told.rank());
          assertTrue(told.getMessage().contains("on purpose"), told::getMessage);
          assertThrows(IllegalStateException.class, group::barrier);
          try (Group.Shrunk left = group.shrink(Duration.ofSeconds(20))) {
            assertEquals(2, left.group().size());
            int[] sum = {ranks.rank()};
            left.group().allReduce(sum, Reduction.SUM);
            assertEquals(3 - lost, sum[0]);
            wentOn.incrementAndGet();
          }
        });
    assertEquals(2, wentOn.get());
  }

  private static Collective collective(Operation.Kind kind) {
    return switch (kind) {
      case ALL_REDUCE -> Collective.allReduce(DataType.F32, Reduction.SUM, 9000);
      case REDUCE_SCATTER -> Collective.reduceScatter(DataType.F32, Reduction.SUM, 3000);
      case ALL_GATHER -> Collective.allGather(DataType.F32, 3000);
      case BROADCAST -> Collective.broadcast(DataType.F32, 9000, 0);
      case REDUCE -> Collective.reduce(DataType.F32, Reduction.SUM, 9000, 0);
      case GATHER -> Collective.gather(DataType.F32, 3000, 0);
      case SCATTER -> Collective.scatter(DataType.F32, 3000, 0);
      case ALL_TO_ALL -> Collective.allToAll(DataType.F32, 3000);
      case BARRIER -> Collective.barrier();
    };
  }

  @Test
  void aPlanSaysWhatWasChosenAndWhy() {
    Groups.simulated(
        2,
        Groups.OPTIONS,
        group -> {
          MemorySegment array = Arena.ofAuto().allocate(64, 8);
          try (Plan plan =
              group.plan(Collective.allReduce(DataType.F32, Reduction.SUM, 16), array, array)) {
            assertEquals("doubling", plan.algorithm());
            assertEquals("64 bytes are at most 32768", plan.reason());
            assertEquals("all-reduce of 16 F32, sum", plan.collective().toString());
          }
          IllegalArgumentException refused =
              assertThrows(
                  IllegalArgumentException.class,
                  () ->
                      group.plan(
                          Collective.allReduce(DataType.F32, Reduction.SUM, 16),
                          "tree",
                          array,
                          array));
          assertTrue(refused.getMessage().contains("ring, doubling"), refused::getMessage);
          group.barrier();
        });
  }
}
