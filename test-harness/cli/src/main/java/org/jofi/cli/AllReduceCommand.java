package org.jofi.cli;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.cli.collectives.CollectivesPlan;
import org.jofi.cli.collectives.CollectivesRow;
import org.jofi.cli.collectives.CollectivesRun;
import org.jofi.cli.collectives.DeviceArrays;
import org.jofi.cli.collectives.HostArray;
import org.jofi.cli.collectives.MeasuredArray;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.cli.ranks.Preparation;
import org.jofi.cli.ranks.RankDevice;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.collectives.DataType;
import org.jofi.collectives.Group;
import org.jofi.collectives.GroupOptions;
import org.jofi.collectives.Reduction;
import org.jofi.collectives.schedule.Hosts;
import org.jofi.collectives.schedule.Operation;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Sums arrays over ranks, checks every element, and prints how fast it was. */
@Command(
    name = "allreduce",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Sums arrays of float32 over all ranks, checks every element against the exact sum, and"
          + " prints how fast it was.",
      "Starts the ranks on this machine; under mpirun, srun or torchrun each process is one rank."
          + " The launcher, or MASTER_ADDR and MASTER_PORT, say where rank 0 is."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  jofi allreduce --ranks 4",
      "  jofi allreduce --rails 4 --bytes 4,64K,256M --provider tcp",
      "  jofi allreduce -b 1M -e 1G -f 4 --iterations 20 --json",
      "  jofi allreduce --provider sim:cxi --ranks 8",
      "  jofi allreduce --memory cuda --provider tcp -b 4 -e 256M -f 16",
      "  mpirun -n 16 --hostfile hosts -x MASTER_ADDR=node1 jofi allreduce",
      "",
      "TIME is that of a round's slowest rank, from the common start to the last end. ALGBW is the"
          + " array's length over the median time; BUSBW is ALGBW times 2 (n - 1) / n, which each"
          + " rank's NICs must carry at least in each direction."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every element of every round was right",
      "1:some were wrong, or a rank failed",
      "2:wrong usage",
      "3:something is missing on this machine"
    })
final class AllReduceCommand implements Callable<Integer> {
  /** The kind of memory that arrays are in. */
  enum Memory {
    HOST,
    CUDA
  }

  /** How ranks sum. */
  enum Algorithm {
    AUTO,
    RING,
    DOUBLING,
    HALVING;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** As the library names it. */
    String chosen() {
      return this == AUTO ? "" : text();
    }
  }

  private static final String HEADER = "%10s %12s %9s %8s %12s %12s %10s %10s %8s";
  private static final String ROW = "%10s %12d %9s %8d %12.1f %12.1f %10.3f %10.3f %8d";

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Option(
      names = {"-n", "--ranks"},
      paramLabel = "N",
      description = "Ranks to start here, 1 to 64. Default: 2.")
  private @Nullable Integer ranks;

  @Option(
      names = {"-s", "--bytes"},
      paramLabel = "SIZE",
      description = "Lengths of the array, such as 4,64K,256M, in place of a range.")
  private @Nullable String bytes;

  @CommandLine.Mixin private SizeRange range;

  @Option(
      names = {"-k", "--iterations"},
      paramLabel = "K",
      description = "Measured rounds of each length. Default: 5 to 2000, fewer the longer it is.")
  private @Nullable Integer iterations;

  @Option(
      names = {"-w", "--warmup"},
      paramLabel = "K",
      description =
          "Rounds before them, checked as well. Default: a tenth of the iterations, at least 2.")
  private @Nullable Integer warmup;

  @Option(
      names = "--algorithm",
      paramLabel = "NAME",
      defaultValue = "AUTO",
      description =
          "ring: 2 (ranks - 1) steps, in which each rank sends the fewest bytes; doubling: log2(ranks)"
              + " exchanges of the whole array; halving: as few bytes as a ring in 2 log2(ranks) steps,"
              + " of 3 ranks and more; auto: by length and ranks. Default: auto.")
  private Algorithm algorithm;

  @Option(
      names = "--chunk",
      paramLabel = "SIZE",
      defaultValue = "1M",
      description = "Longest message. Default: ${DEFAULT-VALUE}.")
  private String chunk;

  @Option(
      names = "--window",
      paramLabel = "W",
      defaultValue = "4",
      description =
          "Messages in flight to a rank, and from it, 1 to 64. Default: ${DEFAULT-VALUE}.")
  private int window;

  @Option(
      names = "--memory",
      paramLabel = "KIND",
      defaultValue = "HOST",
      description =
          "Memory of the arrays: host or cuda. With cuda each rank uses a GPU, which adds; memory that"
              + " NICs cannot access directly goes through pinned host memory. Default: host.")
  private Memory memory;

  @Option(
      names = "--gpu",
      paramLabel = "LIST",
      description =
          "With --memory cuda: the GPUs of the ranks of this machine, in turn, such as 0,1."
              + " Default: all of the machine's.")
  private @Nullable String gpu;

  @CommandLine.Mixin private RankOptions options;

  @Override
  public Integer call() {
    CollectivesPlan plan;
    GpuChoice choice;
    try {
      plan = plan();
      choice = gpuChoice();
    } catch (IllegalArgumentException e) {
      throw new CommandLine.ParameterException(
          spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
    Map<String, String> parameters = new LinkedHashMap<>();
    parameters.put("the command", "allreduce");
    parameters.put("--bytes", plan.sizesBytes().toString());
    parameters.put("--iterations", RankOptions.told(iterations));
    parameters.put("--warmup", RankOptions.told(warmup));
    parameters.put("--algorithm", algorithm.text());
    parameters.put("--chunk", chunk);
    parameters.put("--window", Integer.toString(window));
    parameters.put("--memory", name(memory));
    options.describe(parameters);
    Gpus gpus = Gpus.ofThisMachine();
    return new RankLauncher(
            spec,
            options,
            parameters,
            options::transport,
            (fabric, device, links) ->
                memory == Memory.HOST
                    ? run(plan, fabric, device, links)
                    : run(plan, fabric, device, links, gpus, choice))
        .run(
            rankCount(),
            ranks == null ? null : "--ranks " + ranks,
            () -> {
              checkGpus(gpus, choice);
              MachineMemory.require(rankCount(), plan.bytes(rankCount()));
            });
  }

  private int rankCount() {
    return ranks == null ? 2 : ranks;
  }

  /** Checks that each rank that is started here has its GPU. */
  private void checkGpus(Gpus gpus, GpuChoice choice) {
    if (memory == Memory.CUDA) {
      int count = gpus.count();
      for (int rank = 0; rank < rankCount(); rank++) {
        Gpus.require(gpus.obstacle(choice.of(rank, count)));
      }
    }
  }

  private GpuChoice gpuChoice() {
    if (gpu == null) {
      return new GpuChoice(List.of());
    }
    if (memory != Memory.CUDA) {
      throw new IllegalArgumentException("--gpu has an effect with --memory cuda only");
    }
    return GpuChoice.parse(gpu);
  }

  private CollectivesPlan plan() {
    options.check();
    if (ranks != null && (ranks < 1 || ranks > 64)) {
      throw new IllegalArgumentException("--ranks must be 1 to 64, is " + ranks);
    }
    long chunkBytes = ByteSizes.parse(chunk);
    if (chunkBytes < 64 || chunkBytes > 1L << 30 || chunkBytes % Float.BYTES != 0) {
      throw new IllegalArgumentException(
          "--chunk must be 64 to 1G and a multiple of 4, is " + chunk);
    }
    if (window < 1 || window > 64) {
      throw new IllegalArgumentException("--window must be 1 to 64, is " + window);
    }
    List<Long> sizes = range.sizes(bytes, "4", "64M", 16);
    for (long each : sizes) {
      if (each < Float.BYTES || each % Float.BYTES != 0) {
        throw new IllegalArgumentException(
            "%d bytes are no array of float32: a size is a multiple of 4, and at least 4"
                .formatted(each));
      }
    }
    CollectivesPlan plan =
        new CollectivesPlan(
            List.of(Operation.Kind.ALL_REDUCE),
            sizes,
            RankOptions.number("--iterations", iterations, 1, 0),
            RankOptions.number("--warmup", warmup, 0, -1),
            DataType.F32,
            Reduction.SUM,
            0,
            algorithm.chosen(),
            GroupOptions.defaults()
                .withTimeout(options.timeout())
                .withChunkBytes((int) chunkBytes)
                .withWindow(window),
            true);
    if (algorithm == Algorithm.HALVING) {
      plan.check(Hosts.unknown(RankLauncher.placedRanks().orElse(rankCount())));
    }
    return plan;
  }

  private RankLauncher.Outcome run(
      CollectivesPlan plan, FabricChoice fabric, RankDevice device, RingLinks links) {
    Group group = Group.connect(links.ranks(), device.device(), plan.group());
    return RankLauncher.Outcome.of(
        group, links, () -> measure(plan, fabric, device, links, group, null));
  }

  private RankLauncher.Outcome run(
      CollectivesPlan plan,
      FabricChoice fabric,
      RankDevice device,
      RingLinks links,
      Gpus gpus,
      GpuChoice choice) {
    int chosen = choice.of(links.ranks().localRank(), gpus.count());
    Gpus.require(gpus.obstacle(chosen, device.device()));
    try (DeviceArrays arrays = new DeviceArrays(gpus.open(chosen))) {
      GroupOptions withGpu = plan.group().withGpu(arrays.device());
      Group group = Group.connect(links.ranks(), device.device(), withGpu);
      return RankLauncher.Outcome.of(
          group, links, () -> measure(plan, fabric, device, links, group, arrays));
    }
  }

  /**
   * Prepares, measures and tells.
   *
   * @param gpu where arrays are; null for host memory
   * @return whether every element was right
   */
  private boolean measure(
      CollectivesPlan plan,
      FabricChoice fabric,
      RankDevice device,
      RingLinks links,
      Group group,
      @Nullable DeviceArrays gpu) {
    int world = group.size();
    List<CollectivesRow> rows = new ArrayList<>();
    boolean prints = group.rank() == 0;
    List<CollectivesRow> prepared = new ArrayList<>();
    MeasuredArray.Allocator arrays = gpu == null ? HostArray::new : gpu;
    CollectivesRun run = new CollectivesRun(plan, group, links, arrays);
    Preparation preparation =
        options.prepare(spec, prints, fabric, links, rounds -> run.rehearse(rounds, prepared::add));
    try (RankReport report =
        new RankReport(spec, options, prints, "allreduce", plan.rounds(world))) {
      Map<String, Object> settings = new LinkedHashMap<>();
      settings.put("collective", "allreduce");
      settings.put("algorithm", algorithm.text());
      settings.put("type", "float32");
      settings.put("ranks", world);
      settings.put("memory", name(memory));
      report.text("all-reduce, sum of float32, %d rank(s); %s%n", world, device.describe());
      if (gpu != null) {
        List<String> names = ofAll(links, gpu.describe());
        String path = DevicePaths.joined(ofAll(links, DevicePaths.of(plan, gpu, links)));
        settings.put("gpus", names);
        settings.put("memoryPath", path);
        report.text("arrays in GPU memory, %s; %s%n", byRank(names), path);
      }
      report.text("%s%n", preparation.line());
      report.text(
          HEADER,
          "SIZE",
          "COUNT",
          "ALGORITHM",
          "ROUNDS",
          "TIME us",
          "BEST us",
          "ALGBW GB/s",
          "BUSBW GB/s",
          "ERRORS");
      RailsUp.Column column = new RailsUp.Column(report, links.toNext().rails().size());
      column.header();
      List<Map<String, Object>> results = new ArrayList<>();
      run.run(
          report,
          row -> {
            rows.add(row);
            print(report, row);
            RailsUp rails = RailsUp.ofAll(links, group);
            column.row(rails);
            results.add(fields(row, rails));
          });
      long wrong =
          Stream.concat(prepared.stream(), rows.stream()).mapToLong(CollectivesRow::wrong).sum();
      report.text(
          wrong == 0
              ? "%nevery element of every round was the exact sum%n"
              : "%n%d elements were WRONG%n",
          wrong);
      CacheLoad cache = new CacheLoad(device.device().cacheStatistics());
      if (options.verbose) {
        report.text("%s%n", cache);
      }
      settings.put("registrationCache", cache.fields());
      settings.put("chunkBytes", plan.group().chunkBytes());
      settings.put("window", plan.group().window());
      preparation.describe(settings);
      settings.put("errors", wrong);
      report.document(fabric, device, settings, results);
      return wrong == 0;
    }
  }

  private static List<String> ofAll(RingLinks links, String mine) {
    return links.gather(mine.getBytes(StandardCharsets.UTF_8)).stream()
        .map(each -> new String(each, StandardCharsets.UTF_8))
        .toList();
  }

  /**
   * Lists each GPU once, after the ranks that use it: {@code rank 0, 2: NVIDIA H200 (CUDA device
   * 0)}.
   */
  private static String byRank(List<String> names) {
    Map<String, StringJoiner> ranks = new LinkedHashMap<>();
    for (int rank = 0; rank < names.size(); rank++) {
      ranks
          .computeIfAbsent(names.get(rank), name -> new StringJoiner(", ", "rank ", ": " + name))
          .add(Integer.toString(rank));
    }
    return ranks.values().stream().map(StringJoiner::toString).collect(Collectors.joining("; "));
  }

  private static String name(Memory memory) {
    return memory.name().toLowerCase(Locale.ROOT);
  }

  private static void print(RankReport report, CollectivesRow row) {
    report.text(
        ROW,
        ByteSizes.format(row.bytes()),
        row.elements(),
        row.algorithm(),
        row.iterations(),
        row.medianNanos() / 1e3,
        row.bestNanos() / 1e3,
        row.algorithmBytesPerSecond() / 1e9,
        row.busBytesPerSecond() / 1e9,
        row.wrong());
  }

  private static Map<String, Object> fields(CollectivesRow row, RailsUp rails) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("bytes", row.bytes());
    fields.put("elements", row.elements());
    fields.put("algorithm", row.algorithm());
    fields.put("iterations", row.iterations());
    fields.put("medianNanos", row.medianNanos());
    fields.put("bestNanos", row.bestNanos());
    fields.put("algorithmBytesPerSecond", row.algorithmBytesPerSecond());
    fields.put("busBytesPerSecond", row.busBytesPerSecond());
    fields.put("errors", row.wrong());
    rails.describe(fields);
    return fields;
  }
}
