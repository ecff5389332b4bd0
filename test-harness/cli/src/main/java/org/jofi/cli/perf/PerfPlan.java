package org.jofi.cli.perf;

import java.util.List;

/**
 * What to measure.
 *
 * @param operation what is measured
 * @param sizesBytes lengths of a message
 * @param iterations measured messages of each length; 0 for a number that gets smaller with longer
 *     messages
 * @param warmup messages before them; -1 for a tenth of the iterations, and before the first length
 *     enough for the JIT compiler
 * @param window messages in flight while bandwidth is measured
 * @param bidirectional whether bandwidth is measured in both directions at the same time
 * @param registersOnce whether memory is registered once for each length, rather than by each
 *     message, through the registration cache
 */
public record PerfPlan(
    PerfOperation operation,
    List<Long> sizesBytes,
    int iterations,
    int warmup,
    int window,
    boolean bidirectional,
    boolean registersOnce) {
  private static final long USUAL_BYTES = 256L << 20;
  private static final int MOST_USUAL = 10_000;
  private static final int LEAST_USUAL = 20;
  private static final int FOR_THE_COMPILER = 5_000;
  private static final long SHORT_BYTES = 8;
  private static final long SMALL_BYTES = 64 << 10;

  public PerfPlan {
    sizesBytes = List.copyOf(sizesBytes);
    for (long bytes : sizesBytes) {
      if (bytes < 1 || bytes > 1L << 32) {
        throw new IllegalArgumentException(
            "messages of %d bytes cannot be measured; 1 byte to 4 GiB can".formatted(bytes));
      }
    }
    if (iterations < 0 || warmup < -1) {
      throw new IllegalArgumentException("iterations must not be negative");
    }
    if (window < 1 || window > 64) {
      throw new IllegalArgumentException("--window must be 1 to 64, is " + window);
    }
  }

  /** The memory that a rank needs for its longest messages, in bytes. */
  public long bytes() {
    return sizesBytes.stream().mapToLong(bytes -> PerfMemory.bytes(bytes, window)).max().orElse(0);
  }

  /** Measured messages of a length. */
  public int iterations(long bytes) {
    return iterations > 0 ? iterations : Math.clamp(USUAL_BYTES / bytes, LEAST_USUAL, MOST_USUAL);
  }

  /** Warm-up messages of a length. */
  public int warmup(long bytes) {
    if (warmup >= 0) {
      return warmup;
    }
    int usual = Math.max(10, iterations(bytes) / 10);
    return iterations == 0 && bytes == sizesBytes.getFirst() && bytes <= SMALL_BYTES
        ? Math.max(FOR_THE_COMPILER, usual)
        : usual;
  }

  /**
   * The same with other lengths: a short one so many times and, if there are such, one that is too
   * long to leave before its receive, which runs other code, a tenth as often.
   *
   * @param eagerBytes the longest message that may leave before its receive
   */
  public List<PerfPlan> forPreparation(int count, int eagerBytes) {
    PerfPlan brief = with(SHORT_BYTES, count);
    return sizesBytes.stream().anyMatch(bytes -> bytes > eagerBytes)
        ? List.of(brief, with(eagerBytes + SHORT_BYTES, Math.ceilDiv(count, 10)))
        : List.of(brief);
  }

  private PerfPlan with(long bytes, int count) {
    return new PerfPlan(operation, List.of(bytes), count, 0, window, bidirectional, registersOnce);
  }
}
