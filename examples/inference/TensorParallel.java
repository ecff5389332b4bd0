package inference;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import launch.Measured;
import launch.Options;
import launch.RankLauncher;
import org.jofi.collectives.Collective;
import org.jofi.collectives.DataType;
import org.jofi.collectives.Group;
import org.jofi.collectives.Plan;
import org.jofi.collectives.Reduction;
import org.jofi.ranks.Ranks;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import star.Star;

/**
 * Tensor-parallel inference: the layers of a transformer, each split over all ranks, with an
 * all-reduce after attention and one after the MLP. It says how many tokens a second come out, with
 * collectives of jofi and with a star in their place, in turn; and checks that what comes out is
 * what one rank alone computes, as far as rounding allows, with the same bits on all ranks.
 *
 * <p>Tokens are given, as those of a prompt are: if each came from the one before, ranks that
 * round differently could go different ways at a tie.
 */
public final class TensorParallel {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /**
   * How far a number that comes out may be from one rank's, in units of what they usually are. A float has 24 bits; a
   * layer adds up to 3,072 products, here in other groups; and the error passes through all layers.
   */
  private static final double BOUND = 1e-4;

  private static final Map<String, String> USUAL =
      Map.ofEntries(
          Map.entry("ranks", "1,2,4"),
          Map.entry("providers", "shm,net"),
          Map.entry("star", "sockets"),
          Map.entry("as", "processes"),
          Map.entry("rounds", "5"),
          Map.entry("tokens", "64"),
          Map.entry("layers", "4"),
          Map.entry("width", "768"),
          Map.entry("heads", "12"));

  private TensorParallel() {}

  public static void main(String... arguments) throws Exception {
    Options options;
    try {
      options = Options.read(USUAL, arguments);
      size(options);
    } catch (IllegalArgumentException e) {
      System.err.println("TensorParallel: " + e.getMessage());
      System.exit(2);
      return;
    }
    RankLauncher.runIfRank((ranks, host, out) -> rank(options, ranks, host, out));

    Transformer.Size size = size(options);
    System.out.println(
        "%d layers of width %d with %d heads; %d tokens a round, %s rounds of each in turn, medians"
            .formatted(size.layers(), size.width(), size.heads(), size.positions(), options.text("rounds")));
    List<Measured> all = new ArrayList<>();
    for (int ranks : options.numbers("ranks", 1, 64)) {
      if (size.heads() % ranks != 0) {
        throw new IllegalArgumentException("%d heads cannot be split over %d ranks".formatted(size.heads(), ranks));
      }
      for (String provider : ranks == 1 ? List.of("none") : options.list("providers")) {
        Options one = options.with("providers", provider).with("ranks", Integer.toString(ranks));
        List<String> lines =
            options.text("as").equals("threads")
                ? RankLauncher.threads(ranks, (each, host, out) -> rank(one, each, host, out))
                : RankLauncher.processes(ranks, one.arguments());
        for (String line : lines) {
          Optional<Measured> measured = Measured.of(line);
          measured.ifPresent(all::add);
          System.out.println(line);
        }
      }
    }
    Measured.table(all, "tokens/s", each -> 1e3 / each.millis()).forEach(System.out::println);
  }

  private static Transformer.Size size(Options options) {
    Transformer.Size size =
        new Transformer.Size(
            options.number("layers", 1, 100),
            options.number("width", 16, 8192),
            options.number("heads", 1, 64),
            options.number("tokens", 1, 10_000));
    if (size.width() % (4 * size.heads()) != 0) {
      throw new IllegalArgumentException("the width has to be a multiple of 4 for each head");
    }
    return size;
  }

  private static void rank(Options options, Ranks ranks, String host, Consumer<String> out) throws Exception {
    Transformer.Size size = size(options);
    Transformer mine = new Transformer(size, ranks.rank(), ranks.size());
    int rounds = options.number("rounds", 1, 1_000);
    if (ranks.size() == 1) {
      measure(ranks, mine, size, rounds, "none", Map.of("one-rank", () -> {}), MemorySegment.NULL, out);
      return;
    }
    String provider = options.list("providers").getFirst();
    TransportOptions transportOptions = TransportOptions.builder().provider(provider).build();
    try (Transport transport = Transport.open(transportOptions);
        Arena arena = transport.openArena();
        Group group = Group.connect(ranks, transport.devices().getFirst());
        Star star = Star.open(options.text("star"), ranks, host)) {
      MemorySegment partial = arena.allocate((long) size.width() * Float.BYTES, 64);
      Collective sum = Collective.allReduce(DataType.F32, Reduction.SUM, size.width());
      try (Plan plan = group.plan(sum, partial, partial)) {
        if (ranks.rank() == 0) {
          out.accept("# %s, %d ranks: %s, since %s".formatted(provider, ranks.size(), plan.algorithm(), plan.reason()));
        }
        Map<String, Runnable> ways = new LinkedHashMap<>();
        ways.put("jofi", plan::run);
        ways.put(
            "star-" + options.text("star"),
            () -> {
              try {
                star.sum(partial);
              } catch (Exception e) {
                throw new IllegalStateException("the star failed: " + e.getMessage(), e);
              }
            });
        measure(ranks, mine, size, rounds, provider, ways, partial, out);
      }
      ranks.barrier(PATIENCE);
    }
  }

  private static void measure(
      Ranks ranks,
      Transformer mine,
      Transformer.Size size,
      int rounds,
      String provider,
      Map<String, Runnable> ways,
      MemorySegment partial,
      Consumer<String> out) {
    Map<String, float[]> said = new LinkedHashMap<>();
    for (int round = 0; round <= rounds; round++) { // the first one is for the JIT compiler
      for (Map.Entry<String, Runnable> way : ways.entrySet()) {
        ranks.barrier(PATIENCE);
        mine.begin(partial, ranks.size() == 1 ? null : way.getValue());
        long began = System.nanoTime();
        float[] numbers = sequence(mine, size);
        double millis = (System.nanoTime() - began) / 1e6 / size.positions();
        double waited = mine.reducedNanos() / 1e6 / size.positions();
        if (round > 0 && ranks.rank() == 0) {
          String over = Measured.over(way.getKey(), provider);
          out.accept(
              new Measured("inference", over, ranks.size(), way.getKey(), round, millis, waited, waited).line());
        }
        checkBits(ranks, way.getKey(), numbers, said.putIfAbsent(way.getKey(), numbers));
      }
    }
    if (ranks.size() > 1 && ranks.rank() == 0) {
      Transformer alone = new Transformer(size, 0, 1);
      alone.begin(MemorySegment.NULL, null);
      float[] expected = sequence(alone, size);
      said.forEach((way, numbers) -> out.accept(compare(way, numbers, expected)));
    }
    ranks.barrier(PATIENCE);
  }

  /** {@return all that comes out for a sequence of tokens} */
  private static float[] sequence(Transformer transformer, Transformer.Size size) {
    float[] all = new float[size.positions() * Transformer.Size.VOCABULARY];
    for (int at = 0; at < size.positions(); at++) {
      int token = at * 151 % Transformer.Size.VOCABULARY;
      float[] logits = transformer.logits(token);
      System.arraycopy(logits, 0, all, at * logits.length, logits.length);
    }
    return all;
  }

  /** The same bits on all ranks, and in each round. */
  private static void checkBits(Ranks ranks, String way, float[] numbers, float[] before) {
    int bits = Measured.bits(numbers);
    if (before != null && Measured.bits(before) != bits) {
      throw new IllegalStateException("%s, %s: other bits than in the first round".formatted(ranks.name(), way));
    }
    List<byte[]> all = ranks.gather(ByteBuffer.allocate(Integer.BYTES).putInt(bits).array(), PATIENCE);
    for (int other = 0; other < all.size(); other++) {
      if (ByteBuffer.wrap(all.get(other)).getInt() != bits) {
        throw new IllegalStateException(
            "%s: %s has other bits than %s".formatted(way, ranks.name(), ranks.name(other)));
      }
    }
  }

  private static String compare(String way, float[] numbers, float[] expected) {
    double squares = 0;
    double most = 0;
    for (int i = 0; i < expected.length; i++) {
      squares += (double) expected[i] * expected[i];
      most = Math.max(most, Math.abs(numbers[i] - expected[i]));
    }
    double difference = most / Math.sqrt(squares / expected.length);
    if (!(difference <= BOUND)) {
      throw new IllegalStateException(
          "%s: what comes out differs by %.2g from what one rank computes; at most %.2g is rounding"
              .formatted(way, difference, BOUND));
    }
    return "# %s: at most %.2g from one rank's (bound %.2g), the same bits on all ranks and in all rounds"
        .formatted(way, difference, BOUND);
  }
}
