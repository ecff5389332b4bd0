package org.jofi.collectives.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

/** Each algorithm, with any number of ranks and any lengths, beside what the operation says. */
class AlgorithmProperties {
  private static final long UNTOUCHED = -1;

  @Property(tries = 600)
  void everyAlgorithmDoesWhatItsOperationSays(
      @ForAll Operation.Kind kind,
      @ForAll @IntRange(min = 2, max = 17) int size,
      @ForAll @LongRange(min = 0, max = 40) long count,
      @ForAll @LongRange(min = 1, max = 50) long chunk,
      @ForAll @IntRange(max = 16) int rootDraw,
      @ForAll boolean inPlace,
      @ForAll long seed) {
    Operation operation =
        Operation.of(kind, kind == Operation.Kind.BARRIER ? 0 : count, rootDraw % size);
    List<Algorithm> all = Algorithms.of(operation, size);
    assertFalse(all.isEmpty());
    for (Algorithm algorithm : all) {
      List<Operation> each = new ArrayList<>();
      for (int rank = 0; rank < size; rank++) {
        each.add(operation);
      }
      check(algorithm, each, chunk, inPlace, seed);
    }
  }

  /** Hosts with equally many ranks or not, of ranks in turn or in any order, of up to all ranks. */
  @Property(tries = 300)
  void soDoThoseThatTellHostsApart(
      @ForAll @From("kindsOfTwoLevels") Operation.Kind kind,
      @ForAll @IntRange(min = 3, max = 17) int size,
      @ForAll @LongRange(min = 0, max = 40) long count,
      @ForAll @LongRange(min = 1, max = 50) long chunk,
      @ForAll boolean inPlace,
      @ForAll boolean isLong,
      @ForAll long seed) {
    Random random = new Random(seed);
    Operation operation =
        Operation.of(kind, kind == Operation.Kind.BARRIER ? 0 : count, random.nextInt(size));
    Hosts hosts = hosts(size, random);
    // What is used on either level depends on the length in bytes.
    List<Algorithm> all = Algorithms.of(operation, hosts, isLong ? 1 << 20 : 1);
    Algorithm last = all.getLast();
    assertEquals(hosts.areTwoLevels(), last.name().equals(TwoLevel.NAME));
    check(last, Collections.nCopies(size, operation), chunk, inPlace, seed);
  }

  @Provide
  Arbitrary<Operation.Kind> kindsOfTwoLevels() {
    return Arbitraries.of(
        Operation.Kind.ALL_REDUCE,
        Operation.Kind.BROADCAST,
        Operation.Kind.REDUCE,
        Operation.Kind.BARRIER);
  }

  private static Hosts hosts(int size, Random random) {
    int most = 1 + random.nextInt(size);
    boolean inTurn = random.nextBoolean();
    return Hosts.of(
        IntStream.range(0, size)
            .mapToObj(rank -> "host" + (inTurn ? rank % most : random.nextInt(most)))
            .toList());
  }

  @Property(tries = 200)
  void everyPairOfRanksMayHaveItsOwnLength(
      @ForAll @IntRange(min = 2, max = 9) int size, @ForAll boolean inPlace, @ForAll long seed) {
    Random random = new Random(seed);
    long[][] lengths = new long[size][size];
    for (long[] from : lengths) {
      java.util.Arrays.setAll(from, to -> random.nextLong(4) * random.nextInt(5));
    }
    List<Operation> each = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      int me = rank;
      long[] received = new long[size];
      java.util.Arrays.setAll(received, from -> lengths[from][me]);
      each.add(Operation.allToAll(lengths[rank], received));
    }
    for (Algorithm algorithm : Algorithms.of(each.getFirst(), size)) {
      check(algorithm, each, 7, inPlace, seed);
    }
  }

  private static void check(
      Algorithm algorithm, List<Operation> operations, long chunk, boolean inPlace, long seed) {
    int size = operations.size();
    SimulatedRanks ranks = new SimulatedRanks(seed);
    List<long[]> inputs = new ArrayList<>();
    List<long[]> outputs = new ArrayList<>();
    List<Integer> outputAts = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      Operation operation = operations.get(rank);
      long[] input = input(operation, rank, size);
      int outputLength = Math.toIntExact(operation.output(rank, size));
      inputs.add(input.clone());
      long delta = operation.inPlace(rank);
      // Where a rank has only one of both, there is nothing to share.
      if (inPlace && input.length > 0 && outputLength > 0) {
        int inputAt = Math.toIntExact(Math.max(0, delta));
        int outputAt = Math.toIntExact(Math.max(0, -delta));
        long[] memory = new long[Math.max(inputAt + input.length, outputAt + outputLength)];
        java.util.Arrays.fill(memory, UNTOUCHED);
        System.arraycopy(input, 0, memory, inputAt, input.length);
        Steps steps = Steps.sharing(rank, size, delta);
        algorithm.write(steps, operation, chunk);
        ranks.add(steps.schedule(), memory, inputAt, memory, outputAt);
        outputs.add(memory);
        outputAts.add(outputAt);
      } else {
        long[] output = new long[outputLength];
        java.util.Arrays.fill(output, UNTOUCHED);
        Steps steps = new Steps(rank, size);
        algorithm.write(steps, operation, chunk);
        ranks.add(steps.schedule(), input, 0, output, 0);
        outputs.add(output);
        outputAts.add(0);
      }
    }
    ranks.run();
    for (int rank = 0; rank < size; rank++) {
      long[] expected = expected(operations, inputs, rank);
      for (int i = 0; i < expected.length; i++) {
        assertEquals(
            expected[i],
            outputs.get(rank)[outputAts.get(rank) + i],
            "%s by %s of %d ranks, in place %s: element %d of rank %d"
                .formatted(operations.get(rank), algorithm.name(), size, inPlace, i, rank));
      }
    }
  }

  private static long[] input(Operation operation, int rank, int size) {
    return LongStream.range(0, operation.input(rank, size))
        .map(i -> 1_000_000L * (rank + 1) + i)
        .toArray();
  }

  /** What a rank has to have, from the inputs of all. */
  private static long[] expected(List<Operation> operations, List<long[]> inputs, int rank) {
    int size = operations.size();
    Operation mine = operations.get(rank);
    long count = mine.count();
    int length = Math.toIntExact(mine.output(rank, size));
    long[] expected = new long[length];
    int at = 0;
    switch (mine.kind()) {
      case ALL_REDUCE, REDUCE, REDUCE_SCATTER -> {
        int from = mine.kind() == Operation.Kind.REDUCE_SCATTER ? Math.toIntExact(rank * count) : 0;
        for (int i = 0; i < length; i++) {
          int index = from + i;
          expected[i] =
              inputs.stream().mapToLong(input -> input[index]).sum() + SimulatedRanks.FINISHED;
        }
      }
      case ALL_GATHER, GATHER -> {
        for (int i = 0; i < length; i++) {
          expected[i] = inputs.get((int) (i / count))[(int) (i % count)];
        }
      }
      case BROADCAST -> System.arraycopy(inputs.get(mine.root()), 0, expected, 0, length);
      case SCATTER ->
          System.arraycopy(
              inputs.get(mine.root()), Math.toIntExact(rank * count), expected, 0, length);
      case ALL_TO_ALL -> {
        for (int peer = 0; peer < size; peer++) {
          int from = 0;
          for (int before = 0; before < rank; before++) {
            from += Math.toIntExact(operations.get(peer).sent(before));
          }
          int moved = Math.toIntExact(mine.received(peer));
          System.arraycopy(inputs.get(peer), from, expected, at, moved);
          at += moved;
        }
      }
      case BARRIER -> {}
    }
    return expected;
  }

  /** Nobody leaves a barrier before the last one has come, whoever that is. */
  @Property(tries = 200)
  void aBarrierWaitsForTheLastRank(
      @ForAll @IntRange(min = 2, max = 17) int size,
      @ForAll @IntRange(max = 16) int lateDraw,
      @ForAll long seed) {
    Operation operation = Operation.of(Operation.Kind.BARRIER, 0);
    for (Algorithm algorithm : Algorithms.of(operation, hosts(size, new Random(seed)), 1)) {
      SimulatedRanks ranks = new SimulatedRanks(seed);
      for (int rank = 0; rank < size; rank++) {
        Steps steps = new Steps(rank, size);
        algorithm.write(steps, operation, 1);
        ranks.add(steps.schedule(), new long[0], 0, new long[0], 0);
      }
      assertEquals(0, ranks.runWithout(lateDraw % size), algorithm.name());
      ranks.run();
    }
  }

  @Example
  void aChoiceFitsAndSaysWhy() {
    for (Operation.Kind kind : Operation.Kind.values()) {
      for (int size : new int[] {2, 3, 4, 8, 9, 16}) {
        for (long count : new long[] {0, 1, 1000, 100_000, 10_000_000}) {
          Operation operation = Operation.of(kind, count);
          Algorithms.Choice choice = Algorithms.choose(operation, size, 4);
          assertTrue(choice.algorithm().fits(operation, size), choice::toString);
          assertFalse(choice.reason().isEmpty());
        }
      }
    }
  }

  @Example
  void hostsDecideAndTheChoiceSaysSo() {
    Operation sum = Operation.of(Operation.Kind.ALL_REDUCE, 1_000_000);
    Algorithms.Choice choice = Algorithms.choose(sum, Hosts.of(List.of("a", "b", "a", "a")), 4);
    assertEquals(TwoLevel.NAME, choice.algorithm().name());
    assertEquals(
        "4 ranks on 2 hosts (3 + 1), and 4000000 bytes are more than 65536", choice.reason());
    Operation few = Operation.of(Operation.Kind.ALL_REDUCE, 16_384);
    Algorithms.Choice shorter = Algorithms.choose(few, Hosts.of(List.of("a", "b", "a", "a")), 4);
    assertEquals("halving", shorter.algorithm().name());
    assertEquals("4 ranks on 2 hosts (3 + 1), but 65536 bytes are at most 65536", shorter.reason());
    for (List<String> flat :
        List.of(
            List.of("a", "a", "a", "a"), List.of("a", "b", "c", "d"), List.of("", "", "", ""))) {
      assertEquals("ring", Algorithms.choose(sum, Hosts.of(flat), 4).algorithm().name());
      assertEquals(3, Algorithms.of(sum, Hosts.of(flat), 4).size());
    }
    assertEquals(4, Algorithms.of(sum, Hosts.of(List.of("a", "", "a", "")), 4).size());
  }

  @Example
  void anUnknownNameIsRefusedWithThoseThatThereAre() {
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> Algorithms.named(Operation.of(Operation.Kind.ALL_REDUCE, 1), 4, "star"));
    assertEquals(
        "no algorithm 'star' for all-reduce of 4 ranks; there are ring, doubling, halving",
        refused.getMessage());
  }
}
