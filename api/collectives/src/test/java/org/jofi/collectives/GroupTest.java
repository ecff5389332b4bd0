package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GroupTest {

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  void ranksReduceTheirArrays(int size) {
    Groups.simulated(
        size,
        Groups.OPTIONS,
        group -> {
          float[] floats = {group.rank(), 1, -group.rank()};
          group.allReduce(floats, Reduction.SUM);
          int all = size * (size - 1) / 2;
          assertArrayEquals(new float[] {all, size, -all}, floats);
          long[] longs = {group.rank() + 10L};
          group.allReduce(longs, Reduction.MAX);
          assertArrayEquals(new long[] {size + 9L}, longs);
          double[] doubles = {2 * group.rank()};
          group.allReduce(doubles, Reduction.AVERAGE);
          assertArrayEquals(new double[] {size - 1}, doubles);
          int[] ints = {group.rank() + 1};
          group.allReduce(ints, Reduction.PRODUCT);
          int product = 1;
          for (int factor = 2; factor <= size; factor++) {
            product *= factor;
          }
          assertArrayEquals(new int[] {product}, ints);
          group.barrier();
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"net", "shm"})
  void longArraysGoInChunksOverARealFabric(String provider) {
    Groups.over(
        provider,
        3,
        Groups.OPTIONS.withChunkBytes(4096),
        group -> {
          MemorySegment in = Arena.ofAuto().allocate(4 * 100_003L, 64);
          MemorySegment out = Arena.ofAuto().allocate(4 * 100_003L, 64);
          for (int round = 0; round < 3; round++) {
            for (long i = 0; i < 100_003; i++) {
              in.setAtIndex(ValueLayout.JAVA_INT, i, (int) i * (group.rank() + 1 + round));
            }
            group.run(Collective.allReduce(DataType.I32, Reduction.SUM, 100_003), in, out);
            for (long i = 0; i < 100_003; i++) {
              assertEquals((int) i * (6 + 3 * round), out.getAtIndex(ValueLayout.JAVA_INT, i));
            }
          }
        });
  }

  @Test
  void eachAlgorithmThatIsAskedForIsUsed() {
    Groups.simulated(
        4,
        Groups.OPTIONS,
        group -> {
          MemorySegment array = Arena.ofAuto().allocate(8 * 1000, 8);
          Collective sum = Collective.allReduce(DataType.I64, Reduction.SUM, 1000);
          for (String algorithm : List.of("ring", "doubling", "halving")) {
            for (long i = 0; i < 1000; i++) {
              array.setAtIndex(ValueLayout.JAVA_LONG, i, i + group.rank());
            }
            try (Plan plan = group.plan(sum, algorithm, array, array)) {
              plan.run();
              assertEquals(algorithm, plan.algorithm());
            }
            for (long i = 0; i < 1000; i++) {
              assertEquals(4 * i + 6, array.getAtIndex(ValueLayout.JAVA_LONG, i), algorithm);
            }
          }
        });
  }

  @Test
  void plansMayBeUnderWayTogether() {
    Groups.simulated(
        3,
        Groups.OPTIONS,
        group -> {
          MemorySegment sums = Arena.ofAuto().allocate(4 * 5000, 4);
          MemorySegment all = Arena.ofAuto().allocate(3 * 4 * 700, 4);
          MemorySegment mine = Arena.ofAuto().allocate(4 * 700, 4);
          Plan reduce =
              group.plan(Collective.allReduce(DataType.F32, Reduction.SUM, 5000), sums, sums);
          Plan gather = group.plan(Collective.allGather(DataType.F32, 700), mine, all);
          for (int round = 1; round <= 5; round++) {
            sums.setAtIndex(ValueLayout.JAVA_FLOAT, 4999, round);
            mine.setAtIndex(ValueLayout.JAVA_FLOAT, 699, round * 10 + group.rank());
            reduce.start();
            gather.start();
            boolean reduced = false;
            boolean gathered = false;
            while (!reduced || !gathered) {
              reduced = reduced || reduce.poll();
              gathered = gathered || gather.poll();
            }
            assertEquals(3 * round, sums.getAtIndex(ValueLayout.JAVA_FLOAT, 4999));
            assertEquals(round * 10 + 2, all.getAtIndex(ValueLayout.JAVA_FLOAT, 3 * 700 - 1));
          }
          assertThrows(IllegalStateException.class, reduce::poll);
        });
  }

  @Test
  void aCallThatDoesNotMatchNamesBoth() {
    for (int other = 0; other < 4; other++) {
      int which = other;
      Groups.simulated(
          2,
          Groups.OPTIONS,
          group -> {
            MemorySegment array = Arena.ofAuto().allocate(64, 8);
            Collective mine = Collective.allReduce(DataType.F32, Reduction.SUM, 8);
            if (group.rank() == 1) {
              mine =
                  switch (which) {
                    case 0 -> Collective.allReduce(DataType.F32, Reduction.SUM, 7);
                    case 1 -> Collective.allReduce(DataType.I32, Reduction.SUM, 8);
                    case 2 -> Collective.allReduce(DataType.F32, Reduction.MAX, 8);
                    default -> Collective.broadcast(DataType.F32, 8, 0);
                  };
            }
            Collective asked = mine;
            MismatchException refused =
                assertThrows(MismatchException.class, () -> group.run(asked, array, array));
            assertTrue(
                refused.getMessage().contains("all-reduce of 8 F32, sum")
                    && refused.getMessage().contains("rank 0")
                    && refused.getMessage().contains("rank 1"),
                refused::getMessage);
            assertThrows(IllegalStateException.class, group::barrier);
          });
    }
  }

  @Test
  void aRankThatDoesNotComeIsWaitedForWithABound() {
    CountDownLatch over = new CountDownLatch(1);
    Throwable failure =
        assertThrows(
            Throwable.class,
            () ->
                Groups.simulated(
                    2,
                    Groups.OPTIONS.withTimeout(Duration.ofMillis(700)),
                    group -> {
                      group.barrier();
                      if (group.rank() == 0) {
                        try {
                          group.barrier();
                        } finally {
                          over.countDown();
                        }
                      } else {
                        assertTrue(over.await(30, TimeUnit.SECONDS));
                      }
                    }));
    String words = failure + String.valueOf(failure.getCause());
    assertTrue(words.contains("barrier") && words.contains("0.7 s"), words);
  }

  @Test
  void partsOfAGroupAreGroups() {
    Groups.simulated(
        5,
        Groups.OPTIONS,
        group -> {
          int color = group.rank() == 4 ? -1 : group.rank() % 2;
          Optional<Group> part = group.split(color, -group.rank());
          assertEquals(group.rank() == 4, part.isEmpty());
          if (part.isPresent()) {
            try (Group mine = part.get()) {
              assertEquals(2, mine.size());
              // The keys turn the order round.
              assertEquals(group.rank() % 2 == 0 ? List.of(2, 0) : List.of(3, 1), mine.members());
              int[] sum = {group.rank()};
              mine.allReduce(sum, Reduction.SUM);
              assertEquals(color == 0 ? 2 : 4, sum[0]);
            }
          }
          int[] all = {1};
          group.allReduce(all, Reduction.SUM);
          assertEquals(5, all[0]);
        });
  }

  @Test
  void memoryThatDoesNotSuitIsRefused() {
    Groups.simulated(
        1,
        Groups.OPTIONS,
        group -> {
          MemorySegment array = Arena.ofAuto().allocate(64, 8);
          Collective sum = Collective.allReduce(DataType.F32, Reduction.SUM, 16);
          assertRefused("needed", () -> group.run(sum, array.asSlice(4), array));
          assertRefused(
              "Java heap", () -> group.run(sum, MemorySegment.ofArray(new float[16]), array));
          assertRefused("read-only", () -> group.run(sum, array, array.asReadOnly()));
          MemorySegment wide = Arena.ofAuto().allocate(128, 8);
          assertRefused("overlap", () -> group.run(sum, wide.asSlice(0, 64), wide.asSlice(4, 64)));
          assertRefused(
              "there are 1 ranks",
              () -> group.run(Collective.broadcast(DataType.F32, 1, 1), array, array));
          assertRefused(
              "bytes have no", () -> Collective.allReduce(DataType.BYTE, Reduction.SUM, 1));
        });
  }

  private static void assertRefused(String words, Runnable call) {
    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, call::run);
    assertTrue(refused.getMessage().contains(words), refused::getMessage);
  }

  @Test
  void everyTypeAndReductionIsExact() {
    Groups.simulated(
        3,
        Groups.OPTIONS,
        group -> {
          for (Reduction reduction :
              List.of(
                  Reduction.SUM,
                  Reduction.PRODUCT,
                  Reduction.MIN,
                  Reduction.MAX,
                  Reduction.AVERAGE)) {
            for (DataType type : DataType.values()) {
              if (type != DataType.BYTE) {
                Numbers.check(group, type, reduction);
              }
            }
          }
        });
  }

  @Test
  void aReductionOfOnesOwn() {
    Reduction bits =
        Reduction.of(
            "or",
            (into, intoOffset, from, fromOffset, count) -> {
              for (long i = 0; i < count; i++) {
                byte both =
                    (byte)
                        (into.get(ValueLayout.JAVA_BYTE, intoOffset + i)
                            | from.get(ValueLayout.JAVA_BYTE, fromOffset + i));
                into.set(ValueLayout.JAVA_BYTE, intoOffset + i, both);
              }
            });
    Groups.simulated(
        4,
        Groups.OPTIONS,
        group -> {
          MemorySegment array = Arena.ofAuto().allocate(100);
          array.fill((byte) (1 << group.rank()));
          group.allReduce(array, DataType.BYTE, bits);
          byte[] expected = new byte[100];
          Arrays.fill(expected, (byte) 15);
          assertArrayEquals(expected, array.toArray(ValueLayout.JAVA_BYTE));
        });
  }

  /** A rank may find a program that others have to make first: they stay in step. */
  @Test
  void ranksNeedNotKnowTheSamePrograms() {
    Groups.simulated(
        3,
        Groups.OPTIONS,
        group -> {
          MemorySegment one = Arena.ofAuto().allocate(64, 8);
          MemorySegment other = Arena.ofAuto().allocate(64, 8);
          Collective broadcast = Collective.broadcast(DataType.I32, 4, 0);
          for (int round = 1; round <= 3; round++) {
            one.setAtIndex(ValueLayout.JAVA_INT, 3, group.rank() == 0 ? round : 0);
            // In place at the root, and not: of another rank there is an output alone.
            group.run(broadcast, one, round == 2 ? other : one);
            assertEquals(round, (round == 2 ? other : one).getAtIndex(ValueLayout.JAVA_INT, 3));
            // What ranks 1 and 2 send each other changes, and nothing else.
            long[] lengths = {1, 1, 1};
            if (group.rank() > 0) {
              lengths[3 - group.rank()] = round;
            }
            group.run(Collective.allToAll(DataType.I32, lengths, lengths), one, other);
            group.barrier();
          }
        });
  }

  @Test
  void lengthsOfPairsThatMakeNoSenseAreRefused() {
    Groups.simulated(
        1,
        Groups.OPTIONS,
        group -> {
          MemorySegment array = Arena.ofAuto().allocate(64, 8);
          MemorySegment other = Arena.ofAuto().allocate(64, 8);
          assertRefused(
              "from it",
              () ->
                  group.run(
                      Collective.allToAll(DataType.F32, new long[] {1}, new long[] {2}),
                      array,
                      other));
          assertRefused(
              "there are 1",
              () ->
                  group.run(
                      Collective.allToAll(DataType.F32, new long[] {1, 1}, new long[] {1, 1}),
                      array,
                      other));
          assertRefused(
              "overlap",
              () ->
                  group.run(
                      Collective.allToAll(DataType.F32, new long[] {1}, new long[] {1}),
                      array,
                      array));
        });
  }

  /** An error amid an operation leaves requests behind, which a further one must not meet. */
  @Test
  void anErrorInAReductionEndsTheGroup() {
    Reduction broken =
        Reduction.of(
            "broken",
            (into, intoOffset, from, fromOffset, count) -> {
              throw new AssertionError("on purpose");
            });
    Groups.simulated(
        2,
        Groups.OPTIONS,
        group -> {
          MemorySegment array = Arena.ofAuto().allocate(64, 8);
          AssertionError thrown =
              assertThrows(
                  AssertionError.class, () -> group.allReduce(array, DataType.F32, broken));
          assertEquals("on purpose", thrown.getMessage());
          assertThrows(IllegalStateException.class, group::barrier);
        });
  }
}
