package org.jofi.cli.soak;

import java.util.List;
import java.util.SplittableRandom;
import org.jofi.cli.allreduce.Algorithm;
import org.jofi.cli.allreduce.AllReducePlan;
import org.jofi.cli.allreduce.AllReduceRun;
import org.jofi.cli.ranks.Partners;
import org.jofi.cli.ranks.RankDevice;
import org.jofi.cli.ranks.RingLinks;

/**
 * The rounds of a generation, which all ranks run alike: each is drawn from the generation's seed
 * and its number. For one thread.
 */
final class Rounds {
  /** Lengths are spread evenly over the powers of two up to this one, 4 MiB. */
  static final int LONGEST_POWER = 22;

  private static final int MOST_CHUNK_POWER = 20;
  private static final int MOST_WINDOW = 8;

  private final RankDevice device;
  private final RingLinks links;
  private final GenerationMemory memory;
  private final long seed;

  Rounds(RankDevice device, RingLinks links, GenerationMemory memory, long seed) {
    this.device = device;
    this.links = links;
    this.memory = memory;
    this.seed = seed;
  }

  /** Who is connected besides the ring: what each algorithm of all-reduce needs. */
  static Partners partners() {
    return plan(Float.BYTES, Float.BYTES, 1).partners();
  }

  /** What the round does. */
  RoundKind kind(int round) {
    RoundKind[] kinds = RoundKind.values();
    // The first ones are each once, so that a short generation has them all, too.
    return round < kinds.length ? kinds[round] : kinds[random(round).nextInt(kinds.length)];
  }

  private SplittableRandom random(int round) {
    // Neighbouring seeds of this class give unrelated numbers only after a split.
    return new SplittableRandom(seed + round).split();
  }

  /** A length: 0 at times, else about as often of each power of two. */
  static long length(SplittableRandom random, int longestPower) {
    int power = random.nextInt(-1, longestPower);
    return power < 0 ? 0 : (1L << power) + random.nextLong(1L << power);
  }

  /**
   * Runs a round.
   *
   * @return how many bytes were checked
   * @throws WrongDataException if one is wrong
   */
  long run(int round) {
    SplittableRandom random = random(round);
    long own = random.nextLong();
    return switch (kind(round)) {
      case ALL_REDUCE -> allReduce(new SplittableRandom(own));
      case MESSAGES -> new MessageRound(links, memory, own, LONGEST_POWER).run();
      case ONE_SIDED -> new OneSidedRound(links, memory, own).run();
      case REGISTRATIONS -> new RegistrationRound(device.transport(), links, memory, own).run();
      case COMMUNICATORS -> communicators(new SplittableRandom(own));
    };
  }

  private long allReduce(SplittableRandom random) {
    long bytes = Math.max(1, length(random, LONGEST_POWER) / Float.BYTES) * Float.BYTES;
    int chunk = Float.BYTES << random.nextInt(10, MOST_CHUNK_POWER - 1);
    AllReducePlan plan = plan(bytes, chunk, random.nextInt(1, MOST_WINDOW + 1));
    new AllReduceRun(plan, links, memory::ring, done -> {})
        .run(
            row -> {
              if (row.wrong() > 0) {
                throw new WrongDataException(
                    "%d of %d elements of an all-reduce are wrong, in chunks of %d bytes with window %d"
                        .formatted(row.wrong(), bytes / Float.BYTES, chunk, plan.window()));
              }
            });
    return bytes;
  }

  private static AllReducePlan plan(long bytes, int chunkBytes, int window) {
    return new AllReducePlan(List.of(bytes), 1, 0, chunkBytes, window, Algorithm.AUTO);
  }

  private long communicators(SplittableRandom random) {
    boolean aborts = random.nextBoolean();
    long own = random.nextLong();
    RingLinks more =
        RingLinks.connect(links.ranks(), device.device(), links.patience(), Partners.NONE);
    long checked;
    try {
      checked = new MessageRound(more, memory, own, LONGEST_POWER / 2).run();
      more.gather(new byte[0]);
    } catch (RuntimeException e) {
      more.abort();
      throw e;
    }
    if (aborts) {
      more.abort();
    } else {
      more.close();
    }
    return checked;
  }
}
