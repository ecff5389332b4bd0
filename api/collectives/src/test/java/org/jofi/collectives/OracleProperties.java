package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import org.jofi.collectives.schedule.Algorithm;
import org.jofi.collectives.schedule.Algorithms;
import org.jofi.collectives.schedule.Operation;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.fault.FaultPlan;

/**
 * Random operations over a simulated fabric that refuses, delays, reorders and stalls, beside what
 * a single thread calculates from the inputs of all.
 */
class OracleProperties {
  private static final int OPERATIONS = 8;
  private static final GroupOptions OPTIONS = Groups.OPTIONS.withChunkBytes(1024).withWindow(3);

  @Provide
  Arbitrary<Integer> sizes() {
    return Arbitraries.of(2, 3, 4, 5, 7, 8);
  }

  @Property(tries = 12)
  void everyRankHasWhatOneThreadCalculates(@ForAll @From("sizes") int size, @ForAll long seed) {
    check(size, seed);
  }

  /** Hosts with equally many ranks or not, with one each, or one host with all. */
  @Property(tries = 4)
  void everyRankHasItOverTwoLevels(@ForAll @From("sizes") int size, @ForAll long seed) {
    checkTwoLevels(size, seed);
  }

  /** Sixteen threads, and more tries: for machines that have the time. */
  @Property(tries = 25)
  @Tag("long")
  void manyRanksHaveIt(@ForAll @From("sizes") int size, @ForAll long seed) {
    if (seed % 2 == 0) {
      check(2 * size, seed);
    } else {
      checkTwoLevels(2 * size, seed);
    }
  }

  private static void check(int size, long seed) {
    List<List<float[]>> floats = noFloats(size);
    Groups.over(faulty(), size, OPTIONS, group -> run(group, seed, floats));
    compare(floats);
  }

  private static void checkTwoLevels(int size, long seed) {
    Random random = new Random(seed);
    int most = 1 + random.nextInt(size);
    List<String> hosts = new ArrayList<>();
    boolean inTurn = random.nextBoolean();
    for (int rank = 0; rank < size; rank++) {
      hosts.add("host" + (inTurn ? rank % most : random.nextInt(most)));
    }
    List<List<float[]>> floats = noFloats(size);
    Groups.overTwoLevels(
        faulty(),
        faulty(),
        hosts,
        (ranks, levels) -> {
          try (Group group = Group.connect(ranks, levels, OPTIONS)) {
            run(group, seed, floats);
          }
        });
    compare(floats);
  }

  private static SimulatedProvider faulty() {
    return new SimulatedProvider(Strictness.ERRNO, FaultPlan.survivable(), 2);
  }

  private static List<List<float[]>> noFloats(int size) {
    List<List<float[]>> floats = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      floats.add(new ArrayList<>());
    }
    return floats;
  }

  private static void run(Group group, long seed, List<List<float[]>> floats) {
    Random random = new Random(seed);
    for (int i = 0; i < OPERATIONS; i++) {
      whole(group, random);
    }
    for (int i = 0; i < 3; i++) {
      floats.get(group.rank()).add(rounded(group, random));
    }
  }

  private static void compare(List<List<float[]>> floats) {
    for (List<float[]> other : floats) {
      for (int i = 0; i < other.size(); i++) {
        // As ints are equal, down to the last bit.
        assertArrayEquals(bits(floats.getFirst().get(i)), bits(other.get(i)));
      }
    }
  }

  private static int[] bits(float[] of) {
    int[] bits = new int[of.length];
    java.util.Arrays.setAll(bits, i -> Float.floatToRawIntBits(of[i]));
    return bits;
  }

  /** A sum that depends on the order in which it is added up. */
  private static float[] rounded(Group group, Random random) {
    int count = 1 + random.nextInt(1000);
    List<Algorithm> all =
        Algorithms.of(Operation.of(Operation.Kind.ALL_REDUCE, count), group.hosts(), Float.BYTES);
    String algorithm = all.get(random.nextInt(all.size())).name();
    Random mine = new Random(random.nextLong() + group.rank());
    MemorySegment array = Arena.ofAuto().allocate(4L * count, 4);
    for (int i = 0; i < count; i++) {
      array.setAtIndex(ValueLayout.JAVA_FLOAT, i, mine.nextFloat() - 0.5f);
    }
    try (Plan plan =
        group.plan(
            Collective.allReduce(DataType.F32, Reduction.SUM, count), algorithm, array, array)) {
      plan.run();
    }
    return array.toArray(ValueLayout.JAVA_FLOAT);
  }

  /** An operation on whole numbers, all of whose inputs each rank knows. */
  private static void whole(Group group, Random random) {
    int size = group.size();
    Operation.Kind[] kinds = Operation.Kind.values();
    Operation.Kind kind = kinds[random.nextInt(kinds.length)];
    int count = random.nextInt(4) == 0 ? random.nextInt(2000) : random.nextInt(40);
    int root = random.nextInt(size);
    Collective collective = collective(kind, count, root);
    List<Algorithm> all = Algorithms.of(collective.operation(), group.hosts(), Long.BYTES);
    String algorithm = all.get(random.nextInt(all.size())).name();
    long numbers = random.nextLong(1_000_000);
    long[][] inputs = new long[size][];
    for (int rank = 0; rank < size; rank++) {
      inputs[rank] = new long[(int) collective.operation().input(rank, size)];
      for (int i = 0; i < inputs[rank].length; i++) {
        inputs[rank][i] = numbers + 10_000L * rank + i;
      }
    }
    MemorySegment input = memory(inputs[group.rank()]);
    long[] expected = expected(kind, count, root, inputs, group.rank());
    MemorySegment output = memory(new long[expected.length]);
    try (Plan plan = group.plan(collective, algorithm, input, output)) {
      for (int round = 0; round < 2; round++) {
        plan.run();
        for (int i = 0; i < expected.length; i++) {
          assertEquals(
              expected[i],
              output.getAtIndex(ValueLayout.JAVA_LONG, i),
              "%s by %s: element %d of rank %d of %d"
                  .formatted(collective, algorithm, i, group.rank(), size));
        }
      }
    }
  }

  private static Collective collective(Operation.Kind kind, int count, int root) {
    return switch (kind) {
      case ALL_REDUCE -> Collective.allReduce(DataType.I64, Reduction.SUM, count);
      case REDUCE_SCATTER -> Collective.reduceScatter(DataType.I64, Reduction.SUM, count);
      case ALL_GATHER -> Collective.allGather(DataType.I64, count);
      case BROADCAST -> Collective.broadcast(DataType.I64, count, root);
      case REDUCE -> Collective.reduce(DataType.I64, Reduction.SUM, count, root);
      case GATHER -> Collective.gather(DataType.I64, count, root);
      case SCATTER -> Collective.scatter(DataType.I64, count, root);
      case ALL_TO_ALL -> Collective.allToAll(DataType.I64, count);
      case BARRIER -> Collective.barrier();
    };
  }

  private static MemorySegment memory(long[] of) {
    return of.length == 0
        ? MemorySegment.NULL
        : Arena.ofAuto().allocate(8L * of.length, 8).copyFrom(MemorySegment.ofArray(of));
  }

  private static long[] expected(
      Operation.Kind kind, int count, int root, long[][] inputs, int rank) {
    return switch (kind) {
      case ALL_REDUCE -> sums(inputs, 0, count);
      case REDUCE -> rank == root ? sums(inputs, 0, count) : new long[0];
      case REDUCE_SCATTER -> sums(inputs, rank * count, count);
      case ALL_GATHER -> parts(inputs, 0, count);
      case GATHER -> rank == root ? parts(inputs, 0, count) : new long[0];
      case ALL_TO_ALL -> parts(inputs, rank * count, count);
      case BROADCAST -> inputs[root].clone();
      case SCATTER -> {
        long[] mine = new long[count];
        System.arraycopy(inputs[root], rank * count, mine, 0, count);
        yield mine;
      }
      case BARRIER -> new long[0];
    };
  }

  private static long[] sums(long[][] inputs, int from, int count) {
    long[] sums = new long[count];
    for (long[] input : inputs) {
      for (int i = 0; i < count; i++) {
        sums[i] += input[from + i];
      }
    }
    return sums;
  }

  private static long[] parts(long[][] inputs, int from, int count) {
    long[] parts = new long[inputs.length * count];
    for (int rank = 0; rank < inputs.length; rank++) {
      System.arraycopy(inputs[rank], from, parts, rank * count, count);
    }
    return parts;
  }
}
