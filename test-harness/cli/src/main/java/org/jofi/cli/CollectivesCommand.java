package org.jofi.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jofi.cli.collectives.CollectivesPlan;
import org.jofi.cli.collectives.CollectivesRow;
import org.jofi.cli.collectives.CollectivesRun;
import org.jofi.cli.collectives.Names;
import org.jofi.cli.collectives.Plot;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.cli.ranks.Partners;
import org.jofi.cli.ranks.Preparation;
import org.jofi.cli.ranks.RankDevice;
import org.jofi.cli.ranks.RankFailure;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.collectives.Group;
import org.jofi.collectives.GroupOptions;
import org.jofi.collectives.MismatchException;
import org.jofi.collectives.Reduction;
import org.jofi.ranks.Placement;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Measures collective operations between ranks, and checks every element of what they give. */
@Command(
    name = "collectives",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Measures the collective operations of org.jofi.collectives between ranks, as nccl-tests do, and"
          + " checks every element of what they give.",
      "Starts the ranks on this machine; under mpirun, srun or torchrun each process is one rank."
          + " The launcher, or MASTER_ADDR and MASTER_PORT, say where rank 0 is."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  jofi collectives --ranks 4",
      "  jofi collectives all-gather reduce-scatter -b 1K -e 64M -f 4 --plot gather.svg",
      "  jofi collectives all-reduce --algorithm ring --type bf16 --op average",
      "  jofi collectives broadcast --root 1 -s 4,64K --iterations 20 --json",
      "  jofi collectives --provider sim:cxi --ranks 8",
      "  mpirun -n 16 --hostfile hosts -x MASTER_ADDR=node1 jofi collectives",
      "",
      "SIZE is that of the longest array of a rank, or of the root; COUNT is what the operation is"
          + " called with. TIME is that of a round's slowest rank, the median of all rounds. ALGBW is"
          + " SIZE over TIME; BUSBW is ALGBW times 2 (n - 1) / n for all-reduce, (n - 1) / n for"
          + " reduce-scatter, all-gather, gather, scatter and all-to-all, and 1 for broadcast and"
          + " reduce. Input and output are memory of their own, except in a broadcast."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every element of every round was right",
      "1:some were wrong, or a rank failed",
      "2:wrong usage",
      "3:something is missing on this machine"
    })
final class CollectivesCommand implements Callable<Integer> {
  private static final String HEADER = "%-14s %12s %12s %5s %8s %5s %12s %12s %10s %10s %8s  %s%n";
  private static final String ROW =
      "%-14s %12d %12d %5s %8s %5d %12.1f %12.1f %10.3f %10.3f %8d  %s%n";

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Parameters(
      paramLabel = "NAME",
      arity = "0..*",
      description =
          "The operations: all-reduce, reduce-scatter, all-gather, broadcast, reduce, gather, scatter,"
              + " all-to-all, barrier. Default: all of them.")
  private List<String> names = List.of();

  @Option(
      names = {"-n", "--ranks"},
      paramLabel = "N",
      description = "Ranks to start here, 1 to 64. Default: 2.")
  private @Nullable Integer ranks;

  @Option(
      names = {"-s", "--bytes"},
      paramLabel = "SIZE",
      description = "Lengths, such as 4,64K,256M, in place of a range.")
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
      names = "--type",
      paramLabel = "TYPE",
      defaultValue = "f32",
      description =
          "Type of the elements: f32, f64, f16, bf16, i32, i64, or byte for operations that only move"
              + " them. Default: ${DEFAULT-VALUE}.")
  private String type;

  @Option(
      names = "--op",
      paramLabel = "OP",
      defaultValue = "sum",
      description =
          "How elements are reduced: sum, product, min, max or average. Default: ${DEFAULT-VALUE}.")
  private String op;

  @Option(
      names = "--root",
      paramLabel = "RANK",
      defaultValue = "0",
      description =
          "The root of broadcast, reduce, gather and scatter. Default: rank ${DEFAULT-VALUE}.")
  private int root;

  @Option(
      names = "--algorithm",
      paramLabel = "NAME",
      defaultValue = "",
      description =
          "The algorithm, one that each of the operations has, such as ring. Default: the one that is"
              + " chosen by length and ranks.")
  private String algorithm;

  @Option(
      names = "--chunk",
      paramLabel = "SIZE",
      defaultValue = "512K",
      description = "About how long a message of a long array is. Default: ${DEFAULT-VALUE}.")
  private String chunk;

  @Option(
      names = "--window",
      paramLabel = "W",
      defaultValue = "8",
      description =
          "Messages in flight to a rank, and from it, 1 to 64. Default: ${DEFAULT-VALUE}.")
  private int window;

  @Option(
      names = "--plot",
      paramLabel = "FILE.svg",
      description = "Draw time and bus bandwidth over the length into this file, too.")
  private @Nullable String plot;

  @CommandLine.Mixin private RankOptions options;

  @Override
  public Integer call() {
    CollectivesPlan plan;
    try {
      plan = plan();
      plan.check(placedRanks().orElse(rankCount()));
    } catch (IllegalArgumentException e) {
      throw new CommandLine.ParameterException(
          spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
    Map<String, String> parameters = new LinkedHashMap<>();
    parameters.put("the command", "collectives");
    parameters.put("the operations", plan.operations().toString());
    parameters.put("--bytes", plan.sizesBytes().toString());
    parameters.put("--iterations", RankOptions.told(iterations));
    parameters.put("--warmup", RankOptions.told(warmup));
    parameters.put("--type", type);
    parameters.put("--op", op);
    parameters.put("--root", Integer.toString(root));
    parameters.put("--algorithm", algorithm);
    parameters.put("--chunk", chunk);
    parameters.put("--window", Integer.toString(window));
    options.describe(parameters);
    return new RankLauncher(
            spec,
            options,
            parameters,
            options::transport,
            Partners.NONE,
            (fabric, device, links) -> run(plan, fabric, device, links))
        .run(
            rankCount(),
            ranks == null ? null : "--ranks " + ranks,
            () -> {
              MachineMemory.require(rankCount(), plan.bytes(rankCount()));
              plotFile();
            });
  }

  private int rankCount() {
    return ranks == null ? 2 : ranks;
  }

  /** How many ranks a launcher says that there are; what is wrong with its words comes later. */
  private static Optional<Integer> placedRanks() {
    try {
      return Placement.of(System.getenv()).map(Placement::size);
    } catch (IllegalArgumentException later) {
      return Optional.empty();
    }
  }

  private CollectivesPlan plan() {
    options.check();
    if (ranks != null && (ranks < 1 || ranks > 64)) {
      throw new IllegalArgumentException("--ranks must be 1 to 64, is " + ranks);
    }
    long chunkBytes = ByteSizes.parse(chunk);
    if (chunkBytes < 64 || chunkBytes > 1L << 30) {
      throw new IllegalArgumentException("--chunk must be 64 to 1G, is " + chunk);
    }
    if (window < 1 || window > 64) {
      throw new IllegalArgumentException("--window must be 1 to 64, is " + window);
    }
    return new CollectivesPlan(
        Names.operations(names),
        range.sizes(bytes, "4", "64M", 16),
        RankOptions.number("--iterations", iterations, 1, 0),
        RankOptions.number("--warmup", warmup, 0, -1),
        Names.type(type),
        Names.reduction(op),
        root,
        algorithm,
        GroupOptions.defaults()
            .withTimeout(options.timeout())
            .withChunkBytes((int) chunkBytes)
            .withWindow(window));
  }

  /**
   * The file to draw into, if there is to be one.
   *
   * @throws CommandLine.ParameterException if it cannot be one
   */
  private Optional<PlotFile> plotFile() {
    try {
      return PlotFile.of(plot);
    } catch (IllegalArgumentException e) {
      throw new CommandLine.ParameterException(
          spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private boolean run(
      CollectivesPlan plan, FabricChoice fabric, RankDevice device, RingLinks links) {
    boolean prints = links.ranks().rank() == 0;
    Optional<PlotFile> file = prints ? plotFile() : Optional.empty();
    Group group = Group.connect(links.ranks(), device.device(), plan.group());
    try {
      boolean right = run(plan, fabric, device, links, group, file);
      // Wait for all ranks, so that none closes a connection that another one still uses.
      links.gather(new byte[0]);
      group.close();
      return right;
    } catch (MismatchException e) {
      group.abort();
      throw new RankFailure(String.valueOf(e.getMessage()));
    } catch (RuntimeException | Error e) {
      group.abort();
      throw e;
    }
  }

  private boolean run(
      CollectivesPlan plan,
      FabricChoice fabric,
      RankDevice device,
      RingLinks links,
      Group group,
      Optional<PlotFile> file) {
    int world = group.size();
    boolean prints = group.rank() == 0;
    List<CollectivesRow> rows = new ArrayList<>();
    List<CollectivesRow> prepared = new ArrayList<>();
    CollectivesRun run = new CollectivesRun(plan, group, links);
    Preparation preparation =
        options.prepare(spec, prints, fabric, links, rounds -> run.rehearse(rounds, prepared::add));
    try (RankReport report =
        new RankReport(spec, options, prints, "collectives", plan.rounds(world))) {
      report.text("collective operations, %d rank(s); %s%n", world, device.describe());
      report.text("%s%n", preparation.line());
      report.text(
          HEADER,
          "OPERATION",
          "SIZE B",
          "COUNT",
          "TYPE",
          "REDOP",
          "ROOT",
          "TIME us",
          "BEST us",
          "ALGBW GB/s",
          "BUSBW GB/s",
          "ERRORS",
          "ALGORITHM");
      run.run(
          report,
          row -> {
            rows.add(row);
            print(report, row);
          });
      long wrong =
          Stream.concat(prepared.stream(), rows.stream()).mapToLong(CollectivesRow::wrong).sum();
      report.text(
          wrong == 0 ? "%nevery element of every round was right%n" : "%n%d elements were WRONG%n",
          wrong);
      CacheLoad cache = new CacheLoad(device.device().cacheStatistics());
      if (options.verbose) {
        report.text("%s%n", cache);
      }
      file.ifPresent(at -> at.write(drawn(device, world, rows)));
      Map<String, Object> settings = settings(plan, world);
      settings.put("registrationCache", cache.fields());
      preparation.describe(settings);
      settings.put("errors", wrong);
      report.document(
          fabric, device, settings, rows.stream().map(CollectivesCommand::fields).toList());
      return wrong == 0;
    }
  }

  private String drawn(RankDevice device, int world, List<CollectivesRow> rows) {
    String title =
        "jofi collectives, %d ranks, %s; %s, %s".formatted(world, device.describe(), type, op);
    return Plot.draw(title, rows);
  }

  private Map<String, Object> settings(CollectivesPlan plan, int world) {
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("operations", plan.operations().stream().map(Object::toString).toList());
    settings.put("algorithm", algorithm);
    settings.put("ranks", world);
    settings.put("chunkBytes", plan.group().chunkBytes());
    settings.put("window", plan.group().window());
    return settings;
  }

  private static int root(CollectivesRow row) {
    return row.collective().operation().hasRoot() ? row.collective().operation().root() : -1;
  }

  private static @Nullable String reduction(CollectivesRow row) {
    @Nullable Reduction reduction = row.collective().reduction();
    return reduction == null ? null : reduction.name();
  }

  private static void print(RankReport report, CollectivesRow row) {
    report.text(
        ROW,
        row.operation(),
        row.bytes(),
        row.elements(),
        Names.of(row.collective().type()),
        Objects.requireNonNullElse(reduction(row), "none"),
        root(row),
        row.medianNanos() / 1e3,
        row.bestNanos() / 1e3,
        row.algorithmBytesPerSecond() / 1e9,
        row.busBytesPerSecond() / 1e9,
        row.wrong(),
        row.algorithm());
  }

  private static Map<String, Object> fields(CollectivesRow row) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("operation", row.operation().toString());
    fields.put("bytes", row.bytes());
    fields.put("elements", row.elements());
    fields.put("type", Names.of(row.collective().type()));
    fields.put("reduction", reduction(row));
    fields.put("root", root(row) < 0 ? null : root(row));
    fields.put("algorithm", row.algorithm());
    fields.put("algorithmBecause", row.reason());
    fields.put("iterations", row.iterations());
    fields.put("medianNanos", row.medianNanos());
    fields.put("bestNanos", row.bestNanos());
    fields.put("algorithmBytesPerSecond", row.algorithmBytesPerSecond());
    fields.put("busBytesPerSecond", row.busBytesPerSecond());
    fields.put("errors", row.wrong());
    return fields;
  }
}
