package org.jofi.cli.ranks;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntToLongFunction;
import java.util.function.LongConsumer;
import org.jofi.ranks.RanksException;
import org.jspecify.annotations.Nullable;

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
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final int LEAST_ROUNDS = 10;
  private static final int MOST_ROUNDS = 1000;

  /** With fewer, the compiler has not seen enough, however little their times differ. */
  private static final int ENOUGH_ROUNDS = 5000;

  /** A batch of rounds is to take at most this part of the time that there is. */
  private static final int BATCHES = 40;

  /** A round is faster if it takes less than this part of the fastest one so far. */
  private static final double FASTER = 0.95;

  /**
   * The compiler of a rank is at work if it takes more than this part of the time. Where there are
   * not many processors, it takes them from the ranks, for milliseconds at a time.
   */
  private static final double AT_WORK = 0.1;

  /** Into how many parts the time that there is falls; one in which nothing changes is the last. */
  private static final int PARTS = 6;

  /**
   * Runs batches of rounds until for a part of the time that there is they were no faster, and no
   * rank's compiler was at work, or the time is over. All ranks call this, and all stop after the
   * same batch.
   *
   * @param links the connections to the neighbours
   * @param boundNanos the time that there is; the same for all ranks; 0 for no batch. The last
   *     batch may end a little later
   * @param batch runs so many rounds; returns what one of them took, in ns
   * @param progress is called with the time so far, in ns
   * @throws RankFailure if this rank fails
   * @throws RanksException if another rank is lost
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
    Parts parts = new Parts(boundNanos / PARTS);
    long compiled = compilingMillis();
    while (elapsed < boundNanos && (rounds < ENOUGH_ROUNDS || !parts.endedInRest())) {
      long round = batch.applyAsLong(size);
      rounds += size;
      long before = elapsed;
      long compiling = compilingMillis() - compiled;
      compiled += compiling;
      // From here on all ranks calculate with the same numbers, and decide alike.
      long[] most = most(links, System.nanoTime() - began, round, compiling);
      elapsed = most[0];
      parts.see(elapsed, most[1], most[2] * NANOS_PER_MILLI);
      if (elapsed - before < boundNanos / BATCHES) {
        size = Math.min(2 * size, MOST_ROUNDS);
      }
      progress.accept(elapsed);
    }
    return new Preparation(rounds, elapsed);
  }

  /** The time of a preparation in parts, and whether anything changed in the last of them. */
  private static final class Parts {
    private final long nanos;
    private long fastest = Long.MAX_VALUE;
    private boolean faster;
    private long began;
    private long compiling;
    private boolean rest;

    /**
     * @param nanos the least length of a part
     */
    Parts(long nanos) {
      this.nanos = nanos;
    }

    /**
     * Sees a batch.
     *
     * @param elapsed when it ended
     * @param round what one of its rounds took
     * @param compilingMeanwhile what the compiler took
     */
    void see(long elapsed, long round, long compilingMeanwhile) {
      if (round < fastest * FASTER) {
        fastest = round;
        faster = true;
      }
      compiling += compilingMeanwhile;
      long part = elapsed - began;
      if (part >= nanos) {
        rest = !faster && compiling <= part * AT_WORK;
        faster = false;
        began = elapsed;
        compiling = 0;
      }
    }

    /** Whether rounds got no faster in the last part, and the compiler was not at work. */
    boolean endedInRest() {
      return rest;
    }
  }

  /** The time that this process's compiler has taken, over its threads; 0 if it is not known. */
  private static long compilingMillis() {
    @Nullable CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    return compiler == null || !compiler.isCompilationTimeMonitoringSupported()
        ? 0
        : compiler.getTotalCompilationTime();
  }

  /** Of each number, the greatest of all ranks. */
  private static long[] most(RingLinks links, long... mine) {
    ByteBuffer out = ByteBuffer.allocate(mine.length * Long.BYTES);
    out.asLongBuffer().put(mine);
    long[] most = mine.clone();
    for (byte[] of : links.gather(out.array())) {
      LongBuffer in = Told.numbers(of, mine.length).asLongBuffer();
      for (int i = 0; i < most.length; i++) {
        most[i] = Math.max(most[i], in.get(i));
      }
    }
    return most;
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
