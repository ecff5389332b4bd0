package org.jofi.cli.ranks;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntToLongFunction;
import java.util.function.LongConsumer;

/**
 * What ranks ran before they measured, so that the JIT compiler compiled it: the first thousands of
 * messages of a process take several times as long as later ones.
 *
 * <p>Ranks run what they will measure, with each other, since a loop that the compiler has not seen
 * run is slow even if all that it calls is compiled.
 *
 * @param rounds how many rounds each rank ran
 * @param nanos how long they took
 */
public record Preparation(long rounds, long nanos) {
  private static final int LEAST_ROUNDS = 10;
  private static final int MOST_ROUNDS = 1000;

  /** With fewer, the compiler has not seen enough, however little their times differ. */
  private static final int ENOUGH_ROUNDS = 5000;

  /** A batch of rounds is to take at most this part of the time that there is. */
  private static final int BATCHES = 40;

  /** A round is faster if it takes less than this part of the fastest one so far. */
  private static final double FASTER = 0.95;

  /**
   * Runs batches of rounds until they were no faster for half of the time that there is, or the
   * time is over. All ranks call this, and all stop after the same batch.
   *
   * @param links the connections to the neighbours
   * @param boundNanos the time that there is; the same for all ranks; 0 for no batch. The last
   *     batch may end a little later
   * @param batch runs so many rounds; returns what one of them took, in ns
   * @param progress is called with the time so far, in ns
   * @throws RankFailure if this rank fails
   * @throws BootstrapException if another rank is lost
   */
  public static Preparation run(
      RingLinks links, long boundNanos, IntToLongFunction batch, LongConsumer progress) {
    if (boundNanos == 0) {
      return new Preparation(0, 0);
    }
    long began = System.nanoTime();
    int size = LEAST_ROUNDS;
    long rounds = 0;
    long elapsed = 0;
    long fastest = Long.MAX_VALUE;
    long fasterAt = 0;
    while (elapsed < boundNanos
        && (rounds < ENOUGH_ROUNDS || elapsed - fasterAt < boundNanos / 2)) {
      long round = batch.applyAsLong(size);
      rounds += size;
      long before = elapsed;
      // From here on all ranks calculate with the same numbers, and decide alike.
      long[] slowest = slowest(links, System.nanoTime() - began, round);
      elapsed = slowest[0];
      if (slowest[1] < fastest * FASTER) {
        fastest = slowest[1];
        fasterAt = elapsed;
      }
      if (elapsed - before < boundNanos / BATCHES) {
        size = Math.min(2 * size, MOST_ROUNDS);
      }
      progress.accept(elapsed);
    }
    return new Preparation(rounds, elapsed);
  }

  private static long[] slowest(RingLinks links, long elapsed, long round) {
    List<byte[]> all =
        links.gather(ByteBuffer.allocate(2 * Long.BYTES).putLong(elapsed).putLong(round).array());
    long[] slowest = new long[2];
    for (byte[] of : all) {
      ByteBuffer in = ByteBuffer.wrap(of);
      slowest[0] = Math.max(slowest[0], in.getLong());
      slowest[1] = Math.max(slowest[1], in.getLong());
    }
    return slowest;
  }

  /** A line for people, with its end; empty if nothing was run. */
  public String line() {
    return rounds == 0
        ? ""
        : String.format(
            Locale.ROOT,
            "prepared with %d rounds in %.1f s, for the JIT compiler%n",
            rounds,
            nanos / 1e9);
  }

  /** Adds it to what a document says of a run. */
  public void describe(Map<String, Object> settings) {
    settings.put("preparationRounds", rounds);
    settings.put("preparationNanos", nanos);
  }
}
