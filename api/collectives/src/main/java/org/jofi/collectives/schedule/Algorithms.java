package org.jofi.collectives.schedule;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The algorithms that there are, and which of them is used. */
public final class Algorithms {
  /**
   * A choice.
   *
   * @param algorithm what is used
   * @param reason why, for people
   */
  public record Choice(Algorithm algorithm, String reason) {}

  private static final long KIB = 1024;

  /** Up to so many bytes, an all-reduce does not tell hosts apart. */
  private static final long FLAT_BYTES = 64 * KIB;

  private static final Algorithm RING = new RingAllReduce();
  private static final Algorithm DOUBLING = new DoublingAllReduce();
  private static final Algorithm HALVING = new HalvingAllReduce();
  private static final Algorithm RING_SCATTER = new RingReduceScatter();
  private static final Algorithm DIRECT_SCATTER = new DirectReduceScatter();
  private static final Algorithm RING_GATHER = new RingAllGather();
  private static final Algorithm BRUCK_GATHER = new BruckAllGather();
  private static final Algorithm BINOMIAL_BROADCAST = new BinomialBroadcast();
  private static final Algorithm CHAIN_BROADCAST = new ChainBroadcast();
  private static final Algorithm BINOMIAL_REDUCE = new BinomialReduce();
  private static final Algorithm CHAIN_REDUCE = new ChainReduce();
  private static final Algorithm LINEAR_GATHER = new LinearGather();
  private static final Algorithm BINOMIAL_GATHER = new BinomialGather();
  private static final Algorithm LINEAR_SCATTER = new LinearScatter();
  private static final Algorithm BINOMIAL_SCATTER = new BinomialScatter();
  private static final Algorithm PAIRWISE = new PairwiseAllToAll();
  private static final Algorithm BRUCK = new BruckAllToAll();
  private static final Algorithm DISSEMINATION = new DisseminationBarrier();

  private static final List<Algorithm> ALL =
      List.of(
          RING,
          DOUBLING,
          HALVING,
          RING_SCATTER,
          DIRECT_SCATTER,
          RING_GATHER,
          BRUCK_GATHER,
          BINOMIAL_BROADCAST,
          CHAIN_BROADCAST,
          BINOMIAL_REDUCE,
          CHAIN_REDUCE,
          LINEAR_GATHER,
          BINOMIAL_GATHER,
          LINEAR_SCATTER,
          BINOMIAL_SCATTER,
          PAIRWISE,
          BRUCK,
          DISSEMINATION);

  private Algorithms() {}

  /**
   * {@return the algorithms that carry out an operation}
   *
   * @param operation the operation
   * @param size how many ranks there are, 2 or more
   */
  public static List<Algorithm> of(Operation operation, int size) {
    return ALL.stream().filter(each -> each.fits(operation, size)).toList();
  }

  /**
   * {@return the algorithms that carry out an operation, with that which tells hosts apart}
   *
   * @param operation the operation
   * @param hosts of the ranks, 2 or more
   * @param elementBytes the length of an element
   */
  public static List<Algorithm> of(Operation operation, Hosts hosts, int elementBytes) {
    return Stream.concat(
            of(operation, hosts.size()).stream(), twoLevel(operation, hosts, elementBytes).stream())
        .toList();
  }

  /** The one that tells hosts apart, if it would do anything else than the others. */
  private static Optional<Algorithm> twoLevel(Operation operation, Hosts hosts, int elementBytes) {
    if (!hosts.areTwoLevels()) {
      return Optional.empty();
    }
    return switch (operation.kind()) {
      case ALL_REDUCE -> {
        long part = operation.count() / hosts.fewest();
        Operation between = Operation.of(operation.kind(), part);
        yield Optional.of(
            new TwoLevelAllReduce(hosts, choose(between, hosts.count(), elementBytes).algorithm()));
      }
      case BROADCAST, REDUCE -> {
        // Of the longest: the array is the same on either level.
        Algorithm each = choose(operation, hosts.count(), elementBytes).algorithm();
        yield Optional.of(
            operation.kind() == Operation.Kind.REDUCE
                ? new TwoLevelReduce(hosts, each)
                : new TwoLevelBroadcast(hosts, each));
      }
      case BARRIER -> Optional.of(new TwoLevelBarrier(hosts, DOUBLING));
      case REDUCE_SCATTER, ALL_GATHER, GATHER, SCATTER, ALL_TO_ALL -> Optional.empty();
    };
  }

  /**
   * {@return the algorithm of a name}
   *
   * @param operation what it has to carry out
   * @param size how many ranks there are, 2 or more
   * @param name its name
   * @throws IllegalArgumentException if there is none; the message names those that there are
   */
  public static Algorithm named(Operation operation, int size, String name) {
    return named(operation, Hosts.unknown(size), 1, name);
  }

  /**
   * {@return the algorithm of a name}
   *
   * @param operation what it has to carry out
   * @param hosts of the ranks, 2 or more
   * @param elementBytes the length of an element
   * @param name its name
   * @throws IllegalArgumentException if there is none; the message names those that there are
   */
  public static Algorithm named(Operation operation, Hosts hosts, int elementBytes, String name) {
    int size = hosts.size();
    List<Algorithm> all = of(operation, hosts, elementBytes);
    return all.stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no algorithm '%s' for %s of %d ranks; there are %s"
                        .formatted(
                            name,
                            operation.kind(),
                            size,
                            String.join(", ", all.stream().map(Algorithm::name).toList()))));
  }

  /**
   * {@return the algorithm that is fastest as far as was measured} All ranks choose alike.
   *
   * @param operation the operation
   * @param size how many ranks there are, 2 or more
   * @param elementBytes the length of an element
   */
  public static Choice choose(Operation operation, int size, int elementBytes) {
    long bytes = operation.count() * elementBytes;
    return switch (operation.kind()) {
      case ALL_REDUCE ->
          size == 2 || Integer.bitCount(size) > 1 || bytes <= 32 * KIB
              ? upTo(bytes, 32 * KIB, DOUBLING, RING)
              : upTo(bytes, 512 * KIB, HALVING, RING);
      case REDUCE_SCATTER -> among(size, bytes, 1024 * KIB, DIRECT_SCATTER, RING_SCATTER);
      case ALL_GATHER -> among(size, bytes, 16 * KIB, BRUCK_GATHER, RING_GATHER);
      case BROADCAST ->
          upTo(bytes, size == 2 ? 64 * KIB : 512 * KIB, BINOMIAL_BROADCAST, CHAIN_BROADCAST);
      case REDUCE -> upTo(bytes, size == 2 ? 64 * KIB : 1024 * KIB, BINOMIAL_REDUCE, CHAIN_REDUCE);
      case GATHER -> many(size, bytes, BINOMIAL_GATHER, LINEAR_GATHER);
      case SCATTER -> many(size, bytes, BINOMIAL_SCATTER, LINEAR_SCATTER);
      case ALL_TO_ALL ->
          operation.isByCounts()
              ? new Choice(PAIRWISE, "each pair of ranks has its own length")
              : many(size, bytes, BRUCK, PAIRWISE);
      case BARRIER -> new Choice(DISSEMINATION, "a barrier has no length");
    };
  }

  /**
   * {@return the algorithm that is taken to be fastest of ranks some of which share a host} All
   * ranks choose alike.
   *
   * @param operation the operation
   * @param hosts of the ranks, 2 or more
   * @param elementBytes the length of an element
   */
  public static Choice choose(Operation operation, Hosts hosts, int elementBytes) {
    Choice flat = choose(operation, hosts.size(), elementBytes);
    Algorithm twoLevel = twoLevel(operation, hosts, elementBytes).orElse(null);
    if (twoLevel == null) {
      return flat;
    }
    long bytes = operation.count() * elementBytes;
    // A short one has fewer steps if it is flat; of a longer one, less leaves each host.
    if (operation.kind() == Operation.Kind.ALL_REDUCE && bytes <= FLAT_BYTES) {
      return new Choice(
          flat.algorithm(), "%s, but %d bytes are at most %d".formatted(hosts, bytes, FLAT_BYTES));
    }
    return new Choice(
        twoLevel,
        operation.kind() == Operation.Kind.ALL_REDUCE
            ? "%s, and %d bytes are more than %d".formatted(hosts, bytes, FLAT_BYTES)
            : hosts.toString());
  }

  private static Choice upTo(long bytes, long limit, Algorithm shorter, Algorithm longer) {
    return bytes <= limit
        ? new Choice(shorter, "%d bytes are at most %d".formatted(bytes, limit))
        : new Choice(longer, "%d bytes are more than %d".formatted(bytes, limit));
  }

  /** Of two ranks, the longer one has as few messages, and moves each byte once. */
  private static Choice among(
      int size, long bytes, long limit, Algorithm shorter, Algorithm longer) {
    return size == 2
        ? new Choice(longer, "2 ranks have one message each")
        : upTo(bytes, limit, shorter, longer);
  }

  /** Fewer messages are worth more bytes only among many ranks, and if these are few bytes. */
  private static Choice many(int size, long bytes, Algorithm fewer, Algorithm all) {
    return size > 8 && bytes <= KIB
        ? new Choice(
            fewer, "%d ranks are more than 8, and %d bytes at most 1024".formatted(size, bytes))
        : new Choice(
            all, "%d ranks are at most 8, or %d bytes more than 1024".formatted(size, bytes));
  }
}
