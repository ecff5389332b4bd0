package org.jofi.cli.allreduce;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.cli.ranks.Partners;

/**
 * What an all-reduce run measures.
 *
 * @param sizesBytes lengths of the array, each a multiple of 4
 * @param iterations measured rounds of each length; 0 for a number that gets smaller with longer
 *     arrays
 * @param warmup rounds before them, which are checked but not measured; -1 for a tenth of the
 *     iterations
 * @param chunkBytes longest message, a multiple of 4
 * @param window largest number of requests in flight in each direction, in a ring
 * @param algorithm how ranks sum
 */
public record AllReducePlan(
    List<Long> sizesBytes,
    int iterations,
    int warmup,
    int chunkBytes,
    int window,
    Algorithm algorithm) {
  private static final long USUAL_BYTES = 256L << 20;
  private static final int MOST_USUAL = 2_000;
  private static final int LEAST_USUAL = 5;

  public AllReducePlan {
    sizesBytes = List.copyOf(sizesBytes);
    for (long bytes : sizesBytes) {
      if (bytes < Float.BYTES || bytes % Float.BYTES != 0) {
        throw new IllegalArgumentException(
            "%d bytes are no array of float32: a size is a multiple of 4, and at least 4"
                .formatted(bytes));
      }
    }
    if (iterations < 0 || warmup < -1) {
      throw new IllegalArgumentException("iterations must not be negative");
    }
    if (chunkBytes < Float.BYTES || chunkBytes % Float.BYTES != 0) {
      throw new IllegalArgumentException(
          "a chunk is a multiple of 4 bytes, not %d".formatted(chunkBytes));
    }
    if (window < 1 || window > 64) {
      throw new IllegalArgumentException("window must be 1 to 64, is " + window);
    }
  }

  /** Measured rounds of a length. */
  public int iterations(long bytes) {
    return iterations > 0 ? iterations : Math.clamp(USUAL_BYTES / bytes, LEAST_USUAL, MOST_USUAL);
  }

  /** Warm-up rounds of a length. */
  public int warmup(long bytes) {
    return warmup >= 0 ? warmup : Math.max(2, iterations(bytes) / 10);
  }

  /** The algorithm for an array of this length, which is not {@link Algorithm#AUTO}. */
  public Algorithm algorithm(long bytes) {
    return algorithm.of(bytes);
  }

  /** Who is connected besides the ring: what doubling needs, if a length uses it. */
  public Partners partners() {
    return doubles()
        ? (rank, ranks) -> new DoublingSchedule(rank, ranks).partners()
        : Partners.NONE;
  }

  private boolean doubles() {
    return sizes(Algorithm.DOUBLING).findAny().isPresent();
  }

  /** The longest message for an array of this length, in elements. */
  int chunkElements(long bytes, int ranks) {
    long elements = bytes / Float.BYTES;
    long longest =
        algorithm(bytes) == Algorithm.DOUBLING ? elements : Math.ceilDiv(elements, ranks);
    return (int) Math.min(chunkBytes / Float.BYTES, Math.max(1, longest));
  }

  /** The landing area for an array of this length, in bytes. */
  long landingBytes(long bytes, int ranks) {
    int chunk = chunkElements(bytes, ranks);
    return algorithm(bytes) == Algorithm.DOUBLING
        ? DoublingAllReduce.landingBytes(chunk)
        : RingAllReduce.landingBytes(chunk, window);
  }

  /** The memory that a rank needs for the longest array, in bytes. */
  public long bytes(int ranks) {
    return sizesBytes.stream()
        .mapToLong(bytes -> bytes + landingBytes(bytes, ranks))
        .max()
        .orElse(0);
  }

  /** The number of rounds of all lengths. */
  public long rounds() {
    return sizesBytes.stream().mapToLong(bytes -> warmup(bytes) + iterations(bytes)).sum();
  }

  /**
   * The same with other lengths, for each code that it runs: the shortest so many times, and a
   * tenth as often a ring's, and one of each algorithm whose messages are too long to leave before
   * their receives, if it has such.
   *
   * @param eagerBytes the longest message that may leave before its receive
   */
  public List<AllReducePlan> forPreparation(int count, int ranks, int eagerBytes) {
    int fewer = Math.ceilDiv(count, 10);
    long lateMessage = (eagerBytes / Float.BYTES + 1) * (long) Float.BYTES;
    long lateRing = ranks * lateMessage;
    List<AllReducePlan> plans = new ArrayList<>();
    plans.add(with(Float.BYTES, count, Algorithm.AUTO));
    sizes(Algorithm.RING)
        .filter(bytes -> bytes < lateRing)
        .findFirst()
        .ifPresent(bytes -> plans.add(with(bytes, fewer, Algorithm.RING)));
    if (sizes(Algorithm.DOUBLING).anyMatch(bytes -> bytes >= lateMessage)) {
      plans.add(with(lateMessage, fewer, Algorithm.DOUBLING));
    }
    if (sizes(Algorithm.RING).anyMatch(bytes -> bytes >= lateRing)) {
      plans.add(with(lateRing, fewer, Algorithm.RING));
    }
    return plans;
  }

  private Stream<Long> sizes(Algorithm by) {
    return sizesBytes.stream().filter(bytes -> algorithm(bytes) == by);
  }

  private AllReducePlan with(long bytes, int count, Algorithm by) {
    // Without a length that needs them, there are no connections for doubling.
    return new AllReducePlan(
        List.of(bytes), count, 0, chunkBytes, window, doubles() ? by : Algorithm.RING);
  }
}
