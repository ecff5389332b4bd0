package org.jofi.cli.collectives;

import java.util.ArrayList;
import java.util.List;
import org.jofi.collectives.Collective;
import org.jofi.collectives.DataType;
import org.jofi.collectives.GroupOptions;
import org.jofi.collectives.Reduction;
import org.jofi.collectives.schedule.Algorithms;
import org.jofi.collectives.schedule.Hosts;
import org.jofi.collectives.schedule.Operation;

/**
 * What a run measures.
 *
 * @param operations what is done, in this order
 * @param sizesBytes lengths as nccl-tests mean them: of the longest of the arrays of a rank, of the
 *     root if there is one. A length is rounded down to whole elements for each rank, and is one
 *     element for each at least
 * @param iterations measured rounds of each length; 0 for a number that gets smaller with longer
 *     arrays
 * @param warmup rounds before them, which are checked but not measured; -1 for a tenth of the
 *     iterations
 * @param type of the elements
 * @param reduction how they are reduced, where they are
 * @param root the root of what has one
 * @param algorithm the name of the algorithm; empty for the one that the group chooses
 * @param group chunk, window and time limit
 * @param inPlace whether the output takes the place of the input, of the same length; only for
 *     all-reduce
 */
public record CollectivesPlan(
    List<Operation.Kind> operations,
    List<Long> sizesBytes,
    int iterations,
    int warmup,
    DataType type,
    Reduction reduction,
    int root,
    String algorithm,
    GroupOptions group,
    boolean inPlace) {
  private static final long USUAL_BYTES = 256L << 20;
  private static final int MOST_USUAL = 2_000;
  private static final int LEAST_USUAL = 5;
  private static final long MOST_BYTES = 1L << 50;

  /** What is prepared is no longer than this: longer arrays run the same code more often. */
  private static final long LONGEST_PREPARED = 4L << 20;

  public CollectivesPlan {
    operations = List.copyOf(operations);
    sizesBytes = List.copyOf(sizesBytes);
    for (long bytes : sizesBytes) {
      if (bytes < type.bytes() || bytes > MOST_BYTES) {
        throw new IllegalArgumentException(
            "%d bytes are no length of an array of %s: a size is %d to %d"
                .formatted(bytes, Names.of(type), type.bytes(), MOST_BYTES));
      }
    }
    if (iterations < 0 || warmup < -1) {
      throw new IllegalArgumentException("iterations must not be negative");
    }
    for (Operation.Kind each : operations) {
      if (type == DataType.BYTE && Operation.of(each, 1).isReduction()) {
        throw new IllegalArgumentException(
            "bytes have no %s: name another --type for %s, or only operations that move elements"
                .formatted(reduction, each));
      }
    }
  }

  /**
   * Checks what depends on the ranks.
   *
   * @param hosts those, and which of them share a host, as far as that is known
   * @throws IllegalArgumentException if there is no such root or algorithm, or the type is too
   *     short for so many ranks
   */
  public void check(Hosts hosts) {
    int ranks = hosts.size();
    if (root < 0 || root >= ranks) {
      throw new IllegalArgumentException(
          "--root must be 0 to %d, is %d".formatted(ranks - 1, root));
    }
    for (Operation.Kind each : operations) {
      Operation operation = Operation.of(each, 1);
      if (operation.isReduction()) {
        Contributions.requireExact(type, reduction, ranks);
      }
      if (!algorithm.isEmpty()) {
        Algorithms.named(operation, ranks < 2 ? Hosts.unknown(2) : hosts, type.bytes(), algorithm);
      }
    }
  }

  /** Measured rounds of an operation. */
  int iterations(Collective collective, int ranks) {
    return iterations > 0
        ? iterations
        : Math.clamp(USUAL_BYTES / Math.max(1, bytes(collective, ranks)), LEAST_USUAL, MOST_USUAL);
  }

  /** Warm-up rounds of an operation. */
  int warmup(Collective collective, int ranks) {
    return warmup >= 0 ? warmup : Math.max(2, iterations(collective, ranks) / 10);
  }

  /** What is measured of an operation, each once. */
  List<Collective> collectives(Operation.Kind kind, int ranks) {
    return kind == Operation.Kind.BARRIER
        ? List.of(Collective.barrier())
        : sizesBytes.stream().map(bytes -> collective(kind, bytes, ranks)).distinct().toList();
  }

  private Collective collective(Operation.Kind kind, long bytes, int ranks) {
    long count = Math.max(1, bytes / type.bytes() / parts(kind, ranks));
    return switch (kind) {
      case ALL_REDUCE -> Collective.allReduce(type, reduction, count);
      case REDUCE_SCATTER -> Collective.reduceScatter(type, reduction, count);
      case ALL_GATHER -> Collective.allGather(type, count);
      case BROADCAST -> Collective.broadcast(type, count, root);
      case REDUCE -> Collective.reduce(type, reduction, count, root);
      case GATHER -> Collective.gather(type, count, root);
      case SCATTER -> Collective.scatter(type, count, root);
      case ALL_TO_ALL -> Collective.allToAll(type, count);
      case BARRIER -> Collective.barrier();
    };
  }

  /** How many parts of as many elements as the operation counts the longest array has. */
  private static int parts(Operation.Kind kind, int ranks) {
    return switch (kind) {
      case ALL_REDUCE, BROADCAST, REDUCE, BARRIER -> 1;
      case REDUCE_SCATTER, ALL_GATHER, GATHER, SCATTER, ALL_TO_ALL -> ranks;
    };
  }

  /** The length of the longest of the arrays of a rank, in bytes; 0 for a barrier. */
  static long bytes(Collective collective, int ranks) {
    Operation operation = collective.operation();
    return operation.count() * collective.type().bytes() * parts(operation.kind(), ranks);
  }

  /** The memory that a rank needs for what needs most, in bytes. */
  public long bytes(int ranks) {
    long most = 0;
    for (Operation.Kind kind : operations) {
      for (Collective each : collectives(kind, ranks)) {
        Operation operation = each.operation();
        int at = operation.root();
        long output = operation.output(at, ranks);
        most = Math.max(most, inPlace ? output : operation.input(at, ranks) + output);
      }
    }
    return most * type.bytes() + 2L * group.window() * group.chunkBytes();
  }

  /** The number of rounds of all operations and lengths. */
  public long rounds(int ranks) {
    return operations.stream()
        .flatMap(kind -> collectives(kind, ranks).stream())
        .mapToLong(each -> (long) warmup(each, ranks) + iterations(each, ranks))
        .sum();
  }

  /**
   * What ranks run before they measure.
   *
   * @param collective the operation
   * @param algorithm the name of its algorithm; empty for the one that the group chooses
   * @param often whether it is run as often as asked for, not a tenth as often
   */
  record Rehearsal(Collective collective, String algorithm, boolean often) {}

  /**
   * What runs each code that this runs: of each operation the shortest length of each algorithm,
   * and one whose messages are too long to leave before their receives, if it has such.
   *
   * @param hosts of the ranks
   * @param eagerBytes the longest message that may leave before its receive
   */
  List<Rehearsal> rehearsals(Hosts hosts, int eagerBytes) {
    int ranks = hosts.size();
    long late = Math.min(LONGEST_PREPARED, ranks * (eagerBytes + 1L + type.bytes()));
    List<Rehearsal> rehearsals = new ArrayList<>();
    for (Operation.Kind kind : operations) {
      List<String> seen = new ArrayList<>();
      boolean seenLate = false;
      for (Collective each : collectives(kind, ranks)) {
        String by = algorithm(each, hosts);
        boolean isLate = bytes(each, ranks) > late;
        boolean isNew = !seen.contains(by);
        if (isNew || (isLate && !seenLate)) {
          Collective one = isLate ? collective(kind, late, ranks) : each;
          rehearsals.add(new Rehearsal(one, by, seen.isEmpty()));
          seen.add(by);
          seenLate = isLate;
        }
      }
    }
    return rehearsals;
  }

  private String algorithm(Collective collective, Hosts hosts) {
    if (!algorithm.isEmpty() || hosts.size() < 2) {
      return algorithm;
    }
    return Algorithms.choose(collective.operation(), hosts, type.bytes()).algorithm().name();
  }
}
