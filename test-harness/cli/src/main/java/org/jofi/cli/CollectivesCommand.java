package org.jofi.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jofi.cli.collectives.CollectivesPlan;
import org.jofi.cli.collectives.CollectivesRow;
import org.jofi.cli.collectives.CollectivesRun;
import org.jofi.cli.collectives.HostArray;
import org.jofi.cli.collectives.Names;
import org.jofi.cli.collectives.Plot;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.cli.ranks.Preparation;
import org.jofi.cli.ranks.RankDevice;
import org.jofi.cli.ranks.RankFailure;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.cli.ranks.WithinHost;
import org.jofi.collectives.Group;
import org.jofi.collectives.GroupOptions;
import org.jofi.collectives.Levels;
import org.jofi.collectives.schedule.Hosts;
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
      "  jofi collectives all-reduce --provider net --within-host shm",
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
      defaultValue = "256K",
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
      names = "--within-host",
      paramLabel = "P",
      defaultValue = "",
      description =
          "Connect ranks of the same host over this provider, such as shm, and the others over"
              + " --provider. Default: all over --provider.")
  private String withinHost;

  @Option(
      names = "--plot",
      paramLabel = "FILE.svg",
      description = "Draw time and bus bandwidth over the length into this file, too.")
  private @Nullable String plot;

  @CommandLine.Mixin private RankOptions options;

  @Override
  public Integer call() {
    CollectivesPlan plan;
    WithinHost within;
    try {
      plan = plan();
      within = WithinHost.of(withinHost, options.provider);
      plan.check(within.possible(RankLauncher.placedRanks().orElse(rankCount())));
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
    parameters.put("--within-host", withinHost);
    options.describe(parameters);
    return new RankLauncher(
            spec,
            options,
            parameters,
            options::transport,
            (fabric, device, links) -> run(plan, fabric, device, links, within))
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
            .withWindow(window),
        false);
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

  private RankLauncher.Outcome run(
      CollectivesPlan plan,
      FabricChoice fabric,
      RankDevice device,
      RingLinks links,
      WithinHost within) {
    if (!within.isAsked()) {
      Group group = Group.connect(links.ranks(), device.device(), plan.group());
      return run(plan, fabric, device, links, group, "");
    }
    try (RankDevice memory = within.open(options.transport())) {
      Levels levels = Levels.of(device.device(), memory.device());
      Group group = Group.connect(links.ranks(), levels, plan.group());
      try {
        plan.check(group.hosts());
      } catch (IllegalArgumentException e) {
        group.abort();
        throw new RankFailure("%s: %s".formatted(group.hosts(), e.getMessage()));
      }
      return run(plan, fabric, device, links, group, memory.describe());
    }
  }

  /** Runs it in a group, and ends that; with what connects ranks of a host, if anything does. */
  private RankLauncher.Outcome run(
      CollectivesPlan plan,
      FabricChoice fabric,
      RankDevice device,
      RingLinks links,
      Group group,
      String memory) {
    boolean prints = links.ranks().rank() == 0;
    Optional<PlotFile> file = prints ? plotFile() : Optional.empty();
    return RankLauncher.Outcome.of(
        group, links, () -> measure(plan, fabric, device, links, group, memory, file));
  }

  private boolean measure(
      CollectivesPlan plan,
      FabricChoice fabric,
      RankDevice device,
      RingLinks links,
      Group group,
      String memory,
      Optional<PlotFile> file) {
    int world = group.size();
    boolean prints = group.rank() == 0;
    List<CollectivesRow> rows = new ArrayList<>();
    List<CollectivesRow> prepared = new ArrayList<>();
    CollectivesRun run = new CollectivesRun(plan, group, links, HostArray::new);
    Preparation preparation =
        options.prepare(spec, prints, fabric, links, rounds -> run.rehearse(rounds, prepared::add));
    try (RankReport report =
        new RankReport(spec, options, prints, "collectives", plan.rounds(world))) {
      report.text("collective operations, %d rank(s); %s%n", world, device.describe());
      if (!memory.isEmpty()) {
        report.text("within a host %s; %s%n", memory, group.hosts());
      }
      report.text("%s%n", preparation.line());
      CollectivesTable.printHeader(report);
      run.run(
          report,
          row -> {
            rows.add(row);
            CollectivesTable.print(report, row);
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
      Map<String, Object> settings = settings(plan, group);
      settings.put("registrationCache", cache.fields());
      preparation.describe(settings);
      settings.put("errors", wrong);
      report.document(
          fabric, device, settings, rows.stream().map(CollectivesTable::fields).toList());
      return wrong == 0;
    }
  }

  private String drawn(RankDevice device, int world, List<CollectivesRow> rows) {
    String title =
        "jofi collectives, %d ranks, %s; %s, %s".formatted(world, device.describe(), type, op);
    return Plot.draw(title, rows);
  }

  private Map<String, Object> settings(CollectivesPlan plan, Group group) {
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("operations", plan.operations().stream().map(Object::toString).toList());
    settings.put("algorithm", algorithm);
    settings.put("ranks", group.size());
    settings.put("withinHost", withinHost);
    Hosts hosts = group.hosts();
    settings.put("hosts", IntStream.range(0, hosts.count()).mapToObj(hosts::ranks).toList());
    settings.put("chunkBytes", plan.group().chunkBytes());
    settings.put("window", plan.group().window());
    return settings;
  }
}
