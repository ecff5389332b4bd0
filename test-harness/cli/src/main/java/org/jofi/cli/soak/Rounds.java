package org.jofi.cli.soak;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.jofi.cli.collectives.CollectivesPlan;
import org.jofi.cli.collectives.CollectivesRun;
import org.jofi.cli.ranks.RankDevice;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.collectives.DataType;
import org.jofi.collectives.Group;
import org.jofi.collectives.GroupOptions;
import org.jofi.collectives.Reduction;
import org.jofi.collectives.schedule.Operation;

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
  private final Group group;
  private final GroupOptions options;
  private final GenerationMemory memory;
  private final long seed;

  /**
   * @param group of all ranks, with these options
   */
  Rounds(
      RankDevice device,
      RingLinks links,
      Group group,
      GroupOptions options,
      GenerationMemory memory,
      long seed) {
    this.device = device;
    this.links = links;
    this.group = group;
    this.options = options;
    this.memory = memory;
    this.seed = seed;
  }

  /** How all-reduces of a generation are cut into messages, drawn from its seed. */
  static GroupOptions group(long seed, Duration patience) {
    SplittableRandom random = new SplittableRandom(seed).split();
    return GroupOptions.defaults()
        .withTimeout(patience)
        .withChunkBytes(Float.BYTES << random.nextInt(10, MOST_CHUNK_POWER - 1))
        .withWindow(random.nextInt(1, MOST_WINDOW + 1));
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
    CollectivesPlan plan =
        new CollectivesPlan(
            List.of(Operation.Kind.ALL_REDUCE),
            List.of(bytes),
            1,
            0,
            DataType.F32,
            Reduction.SUM,
            0,
            "",
            options,
            true);
    new CollectivesRun(plan, group, links, memory::array)
        .run(
            done -> {},
            row -> {
              if (row.wrong() > 0) {
                throw new WrongDataException(
                    "%d of %d elements of an all-reduce are wrong, in chunks of %d bytes with window %d"
                        .formatted(
                            row.wrong(), row.elements(), options.chunkBytes(), options.window()));
              }
            });
    return bytes;
  }

  private long communicators(SplittableRandom random) {
    boolean aborts = random.nextBoolean();
    long own = random.nextLong();
    RingLinks more = RingLinks.connect(links.ranks(), device.device(), links.patience());
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
