package training;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import launch.Measured;
import launch.Options;
import launch.RankLauncher;
import org.jofi.collectives.AsyncGroup;
import org.jofi.collectives.Collective;
import org.jofi.collectives.DataType;
import org.jofi.collectives.Group;
import org.jofi.collectives.Reduction;
import org.jofi.ranks.Ranks;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import star.Star;

/**
 * Data-parallel training with DJL: each rank has the whole network and a part of each batch, and the
 * gradients are summed over all ranks in buckets, while the backward pass goes on. It says how long
 * a step takes, with collectives of jofi and with a star in their place, in turn; and checks
 * that the losses are those of one process with the whole batch and an ordinary backward pass,
 * as far as rounding allows, and that they have the same bits from run to run.
 */
public final class DataParallel {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /**
   * How far a loss may be from one process', as a part of the first loss. Sums of floats of 24 bits, taken
   * in another order, differ from the 7th digit on; each step passes that on to the next ones.
   */
  private static final double BOUND = 1e-5;

  private static final int SEED = 7;
  private static final int FEATURES = 256;
  private static final int CLASSES = 16;

  /** Batches that there are; they come again after that. */
  private static final int BATCHES = 8;

  private static final Map<String, String> USUAL =
      Map.of(
          "ranks", "1,2,4",
          "providers", "shm,net",
          "star", "grpc",
          "rounds", "3",
          "steps", "20",
          "batch", "256",
          "width", "1024",
          "bucket-kib", "1024");

  private DataParallel() {}

  public static void main(String... arguments) throws Exception {
    Options options;
    try {
      options = Options.read(USUAL, arguments);
      for (int ranks : options.numbers("ranks", 1, 64)) {
        if (options.number("batch", 1, 1 << 20) % ranks != 0 || Integer.bitCount(ranks) > 1) {
          throw new IllegalArgumentException(
              "ranks are a power of two, so that a part of the batch is an exact factor, and divide the batch");
        }
      }
    } catch (IllegalArgumentException e) {
      System.err.println("DataParallel: " + e.getMessage());
      System.exit(2);
      return;
    }
    RankLauncher.runIfRank((ranks, host, out) -> rank(options, ranks, host, out));

    System.out.println(
        "network %s, batches of %s, buckets from %s KiB, %s steps a round, %s rounds of each in turn, medians"
            .formatted(
                widths(options),
                options.text("batch"),
                options.text("bucket-kib"),
                options.text("steps"),
                options.text("rounds")));
    List<Measured> all = new ArrayList<>();
    Map<String, String> losses = new LinkedHashMap<>();
    for (int ranks : options.numbers("ranks", 1, 64)) {
      for (String provider : ranks == 1 ? List.of("none") : options.list("providers")) {
        Options one = options.with("providers", provider).with("ranks", Integer.toString(ranks));
        for (String line : RankLauncher.processes(ranks, one.arguments())) {
          System.out.println(line);
          Measured.of(line).ifPresent(all::add);
          if (line.startsWith("losses ")) {
            compareRuns(losses, ranks, line.split(" ", 3)[1], line.split(" ", 3)[2]);
          }
        }
      }
    }
    Measured.table(all, "ms/step", Measured::millis).forEach(System.out::println);
  }

  /** Runs over different providers are different runs of the same sums. */
  private static void compareRuns(Map<String, String> losses, int ranks, String way, String bits) {
    String before = losses.putIfAbsent(ranks + " " + way, bits);
    if (before != null && !before.equals(bits)) {
      throw new IllegalStateException(
          "%d ranks, %s: losses %s in one run and %s in another".formatted(ranks, way, before, bits));
    }
  }

  private static List<Integer> widths(Options options) {
    int width = options.number("width", 1, 1 << 16);
    return List.of(FEATURES, width, width, width, CLASSES);
  }

  /** Sums a bucket over all ranks, in place, while the caller goes on. */
  private interface Summing {
    CompletableFuture<?> start(MemorySegment bucket);
  }

  /** What one rank does. */
  private static void rank(Options options, Ranks ranks, String host, Consumer<String> out) throws Exception {
    Engine.getInstance().setRandomSeed(SEED + ranks.rank()); // only rank 0's weights count
    if (ranks.size() == 1) {
      try (Arena arena = Arena.ofShared();
          NDManager manager = NDManager.newBaseManager()) {
        Training training = new Training(options, manager, arena, ranks);
        training.measure("none", Map.of("one-rank", bucket -> CompletableFuture.completedFuture(null)), out);
      }
      return;
    }
    String provider = options.list("providers").getFirst();
    TransportOptions transportOptions = TransportOptions.builder().provider(provider).build();
    try (Transport transport = Transport.open(transportOptions);
        Arena arena = transport.openArena();
        Star star = Star.open(options.text("star"), ranks, host);
        ExecutorService starThread = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
        AsyncGroup group = AsyncGroup.of(Group.connect(ranks, transport.devices().getFirst()));
        NDManager manager = NDManager.newBaseManager()) {
      Training training = new Training(options, manager, arena, ranks);
      training.broadcastWeights(group);
      Map<String, Summing> ways = new LinkedHashMap<>();
      ways.put("jofi", bucket -> group.run(sum(bucket), bucket, bucket).toCompletableFuture());
      ways.put("star-" + options.text("star"), bucket -> summed(star, starThread, bucket));
      training.measure(provider, ways, out);
    }
  }

  private static Collective sum(MemorySegment bucket) {
    return Collective.allReduce(DataType.F32, Reduction.SUM, bucket.byteSize() / Float.BYTES);
  }

  private static CompletableFuture<?> summed(Star star, ExecutorService thread, MemorySegment bucket) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            star.sum(bucket);
          } catch (Exception e) {
            throw new IllegalStateException("the star failed: " + e.getMessage(), e);
          }
        },
        thread);
  }

  /** The training of one rank. */
  private static final class Training {
    private final Ranks ranks;
    private final int batch;
    private final int steps;
    private final int rounds;
    private final NDManager manager;
    private final Network network;
    private final Buckets buckets;
    private final SyntheticData data;
    private final List<MemorySegment> weights = new ArrayList<>();
    private final Arena arena;

    private long waitedNanos;
    private long summedNanos;

    Training(Options options, NDManager manager, Arena arena, Ranks ranks) {
      this.ranks = ranks;
      this.manager = manager;
      this.arena = arena;
      batch = options.number("batch", 1, 1 << 20);
      steps = options.number("steps", 1, 100_000);
      rounds = options.number("rounds", 1, 1_000);
      data = new SyntheticData(FEATURES, CLASSES);
      network = new Network(manager, widths(options));
      buckets =
          new Buckets(manager, network.parameters(), arena, 1024L * options.number("bucket-kib", 1, 1 << 20));
      keepWeights();
    }

    /** So that each round begins with the same ones. */
    private void keepWeights() {
      buckets.exchangeParameters(false);
      weights.clear();
      for (Buckets.Bucket bucket : buckets.all()) {
        weights.add(arena.allocate(bucket.memory().byteSize(), 64).copyFrom(bucket.memory()));
      }
    }

    /** Rank 0's are everybody's. */
    void broadcastWeights(AsyncGroup group) {
      for (MemorySegment each : weights) {
        Collective broadcast = Collective.broadcast(DataType.F32, each.byteSize() / Float.BYTES, 0);
        group.run(broadcast, each, each).toCompletableFuture().join();
      }
    }

    private void restoreWeights() {
      for (int i = 0; i < weights.size(); i++) {
        buckets.all().get(i).memory().copyFrom(weights.get(i));
      }
      buckets.exchangeParameters(true);
    }

    /** Rounds of each way in turn, then one process with the whole batch to compare with. */
    void measure(String provider, Map<String, Summing> ways, Consumer<String> out) throws Exception {
      Map<String, float[]> losses = new LinkedHashMap<>();
      SyntheticData.Part[] parts = parts(ranks.rank(), ranks.size());
      for (int round = 0; round <= rounds; round++) { // the first one is for the JIT compiler
        for (Map.Entry<String, Summing> way : ways.entrySet()) {
          ranks.barrier(PATIENCE);
          long began = System.nanoTime();
          float[] now = train(parts, 1f / ranks.size(), true, way.getValue());
          double millis = (System.nanoTime() - began) / 1e6 / steps;
          checkBits(way.getKey(), now, losses.putIfAbsent(way.getKey(), now));
          if (round > 0 && ranks.rank() == 0) {
            double waited = waitedNanos / 1e6 / steps;
            double summed = summedNanos / 1e6 / steps;
            String over = Measured.over(way.getKey(), provider);
            out.accept(
                new Measured("training", over, ranks.size(), way.getKey(), round, millis, waited, summed).line());
          }
        }
      }
      if (ranks.rank() == 0) {
        float[] whole = train(parts(0, 1), 1, false, bucket -> CompletableFuture.completedFuture(null));
        losses.forEach((way, each) -> out.accept(compare(way, each, whole)));
      }
      ranks.barrier(PATIENCE);
    }

    private SyntheticData.Part[] parts(int part, int of) {
      int count = batch / of;
      SyntheticData.Part[] parts = new SyntheticData.Part[BATCHES];
      Arrays.setAll(parts, i -> data.part(manager, i * batch + part * count, count));
      return parts;
    }

    /** {@return the loss of each step, over all ranks} */
    private float[] train(SyntheticData.Part[] parts, float scale, boolean inSlices, Summing summing)
        throws Exception {
      restoreWeights();
      Optimizer optimizer = Optimizer.sgd().setLearningRateTracker(Tracker.fixed(0.05f)).build();
      waitedNanos = 0;
      summedNanos = 0;
      float[] losses = new float[steps];
      List<Buckets.Bucket> all = buckets.all();
      CompletableFuture<?>[] sums = new CompletableFuture<?>[all.size()];
      long[] started = new long[all.size()];
      long[] ended = new long[all.size()];
      for (int step = 0; step < steps; step++) {
        try (NDManager scratch = manager.newSubManager()) {
          network.step(
              scratch,
              parts[step % parts.length],
              scale,
              inSlices,
              (slice, loss) -> {
                buckets.collect(slice, loss);
                for (int i = 0; i < sums.length; i++) {
                  if (all.get(i).lowest() == slice) {
                    int bucket = i;
                    started[i] = System.nanoTime();
                    sums[i] =
                        summing
                            .start(all.get(i).memory())
                            .thenRun(() -> ended[bucket] = System.nanoTime());
                  }
                }
              });
        }
        for (int i = 0; i < sums.length; i++) {
          long waits = System.nanoTime();
          sums[i].get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
          waitedNanos += System.nanoTime() - waits;
          // One after the other: a sum waits for the one before.
          summedNanos += ended[i] - (i == 0 ? started[i] : Math.max(started[i], ended[i - 1]));
          for (Buckets.Part part : all.get(i).parts()) {
            optimizer.update(part.name(), part.parameter(), part.gradient());
          }
        }
        losses[step] = buckets.loss();
      }
      return losses;
    }

    /** The same bits in each round, of the losses; and on all ranks, of the losses and the weights in the end. */
    private void checkBits(String way, float[] losses, float[] before) {
      int bits = Measured.bits(losses);
      if (before != null && Measured.bits(before) != bits) {
        throw new IllegalStateException("%s, %s: other losses than in the first round".formatted(ranks.name(), way));
      }
      for (List<NDArray> slice : network.parameters()) {
        for (NDArray parameter : slice) {
          bits = 31 * bits + Measured.bits(parameter.toFloatArray());
        }
      }
      List<byte[]> all = ranks.gather(ByteBuffer.allocate(Integer.BYTES).putInt(bits).array(), PATIENCE);
      for (int other = 0; other < all.size(); other++) {
        if (ByteBuffer.wrap(all.get(other)).getInt() != bits) {
          throw new IllegalStateException(
              "%s: %s has other weights than %s".formatted(way, ranks.name(), ranks.name(other)));
        }
      }
    }

    private String compare(String way, float[] losses, float[] whole) {
      double most = 0;
      for (int step = 0; step < steps; step++) {
        most = Math.max(most, Math.abs(losses[step] - whole[step]) / whole[0]);
        if (!(most <= BOUND)) { // not a number is not within it either
          throw new IllegalStateException(
              "%s, step %d: loss %.6f, and %.6f in one process with the whole batch; at most %.2g of the first is rounding"
                  .formatted(way, step, losses[step], whole[step], BOUND));
        }
      }
      return "losses %s %08x: from %.4f to %.4f, at most %.2g of the first from one process (bound %.2g)"
          .formatted(way, Measured.bits(losses), losses[0], losses[steps - 1], most, BOUND);
    }
  }
}
