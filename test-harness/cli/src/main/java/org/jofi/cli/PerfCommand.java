package org.jofi.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jofi.cli.perf.PerfOperation;
import org.jofi.cli.perf.PerfPlan;
import org.jofi.cli.perf.PerfRow;
import org.jofi.cli.perf.PerfRun;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.cli.ranks.Preparation;
import org.jofi.cli.ranks.RankDevice;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.cli.ranks.Roles;
import org.jofi.ranks.Placement;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.TransportOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures latency and bandwidth between two ranks. */
@Command(
    name = "perf",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Measures latency and bandwidth between two ranks, after checking once for each length that"
          + " every byte arrives.",
      "Starts both on this machine; with --listen and --connect, each is one side."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  jofi perf",
      "  jofi perf --rails 4 -b 64K -e 64M --bidirectional --window 16",
      "  jofi perf --op write --provider shm -b 8 -e 8 -n 100000",
      "  jofi perf --listen                 on one machine, and on another",
      "  jofi perf --connect node1",
      "",
      "P50, P99 and P99.9 are of half a round trip with one message in flight; for write, read and"
          + " flush of the time from posting to completion. GB/s and MSG/s are with a window of"
          + " messages in flight, both ways together if bidirectional."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every byte was right",
      "1:some were wrong, or a side failed",
      "2:wrong usage",
      "3:something is missing on this machine"
    })
final class PerfCommand implements Callable<Integer> {
  private static final String HEADER = "%10s %8s %10s %10s %10s %10s %12s %8s";
  private static final String ROW = "%10s %8d %10.2f %10.2f %10.2f %10.3f %12.0f %8d";

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Option(names = "--listen", description = "Be the rank that waits for the other, at --port.")
  private boolean listens;

  @Option(
      names = "--connect",
      paramLabel = "HOST[:PORT]",
      description =
          "Be the rank that begins; the other listens there. An IPv6 address with a port is"
              + " [ADDRESS]:PORT.")
  private @Nullable String connect;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description =
          "The port that --listen waits at for the other rank. Default: "
              + Placement.USUAL_PORT
              + ".")
  private @Nullable Integer port;

  @CommandLine.Mixin private SizeRange range;

  @Option(
      names = {"-n", "--iterations"},
      paramLabel = "ITERS",
      description =
          "Measured messages of each length. Default: 20 to 10000, fewer the longer it is.")
  private @Nullable Integer iterations;

  @Option(
      names = {"-w", "--warmup"},
      paramLabel = "WARMUP",
      description =
          "Messages before them. Default: a tenth of the iterations, more before the first length.")
  private @Nullable Integer warmup;

  @Option(
      names = "--op",
      paramLabel = "OP",
      defaultValue = "send",
      description = "send, write, read or flush. Default: ${DEFAULT-VALUE}.")
  private PerfOperation operation;

  @Option(names = "--bidirectional", description = "Measure bandwidth in both directions at once.")
  private boolean bidirectional;

  @Option(
      names = "--window",
      paramLabel = "W",
      defaultValue = "8",
      description =
          "Messages in flight while bandwidth is measured, 1 to 64. Default: ${DEFAULT-VALUE}.")
  private int window;

  @Option(
      names = "--register-once",
      description =
          "Register memory once for each length. Without it, each message finds its memory in the"
              + " registration cache, as a program's does that registers nothing itself.")
  private boolean registersOnce;

  @CommandLine.Mixin private RankOptions options;

  @Override
  public Integer call() {
    try {
      options.check();
      PerfPlan plan =
          new PerfPlan(
              operation,
              range.sizes(null, "8", "64M", 2),
              RankOptions.number("--iterations", iterations, 1, 0),
              RankOptions.number("--warmup", warmup, 0, -1),
              window,
              bidirectional,
              registersOnce);
      if (listens && connect != null) {
        throw new IllegalArgumentException("one side listens, the other connects: not both");
      }
      if (port != null && !listens) {
        throw new IllegalArgumentException(
            "--port is where --listen waits, and has no effect without it; --connect takes HOST:PORT");
      }
      if (port != null && (port < 1 || port > 65_535)) {
        throw new IllegalArgumentException("--port must be 1 to 65535, is " + port);
      }
      return launch(plan);
    } catch (IllegalArgumentException e) {
      throw new CommandLine.ParameterException(
          spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private int launch(PerfPlan plan) {
    Map<String, String> parameters = new LinkedHashMap<>();
    parameters.put("the command", "perf");
    parameters.put("--op", operation.name().toLowerCase(Locale.ROOT));
    parameters.put("the sizes", plan.sizesBytes().toString());
    parameters.put("--iterations", RankOptions.told(iterations));
    parameters.put("--warmup", RankOptions.told(warmup));
    parameters.put("--window", Integer.toString(window));
    parameters.put("--bidirectional", Boolean.toString(bidirectional));
    parameters.put("--register-once", Boolean.toString(registersOnce));
    options.describe(parameters);
    RankLauncher launcher =
        new RankLauncher(
            spec,
            options,
            parameters,
            this::transport,
            (fabric, device, links) ->
                new RankLauncher.Outcome(run(plan, fabric, device, links), links.toNext().rails()));
    if (listens) {
      options.progress = ProgressLine.isWanted();
      int at = port == null ? Placement.USUAL_PORT : port;
      Placement here = new Placement(1, 2, "127.0.0.1", at, Roles.LISTENS);
      FabricChoice fabric = FabricChoice.of(options.provider);
      MachineMemory.require(1, plan.bytes());
      return launcher.place(fabric, here, "", true, this::listening);
    }
    if (connect != null) {
      options.progress = ProgressLine.isWanted();
      Placement there = Placement.at(0, 2, connect, Roles.CONNECTS);
      FabricChoice fabric = FabricChoice.of(options.provider);
      MachineMemory.require(1, plan.bytes());
      return launcher.place(fabric, there, "", false, at -> {});
    }
    return launcher.run(2, null, () -> MachineMemory.require(2, plan.bytes()));
  }

  private void listening(int at) {
    spec.commandLine().getErr().printf("listening at port %d%n", at);
    spec.commandLine().getErr().flush();
  }

  private TransportOptions.Builder transport() {
    TransportOptions.Builder transport = options.transport();
    return operation == PerfOperation.FLUSH ? transport.flushPolicy(FlushPolicy.ALWAYS) : transport;
  }

  private boolean run(PerfPlan plan, FabricChoice fabric, RankDevice device, RingLinks links) {
    String name = operation.name().toLowerCase(Locale.ROOT);
    List<PerfRow> rows = new ArrayList<>();
    // With --listen, each rank has a terminal of its own.
    boolean prints = links.ranks().rank() == 0 || listens;
    List<PerfRow> prepared = new ArrayList<>();
    Preparation preparation = prepare(plan, fabric, device, links, prints, prepared);
    try (RankReport report =
        new RankReport(spec, options, prints, "perf", plan.sizesBytes().size())) {
      report.text(
          "%s%s, window %d; %s%n%s%n",
          name,
          bidirectional ? ", bidirectional" : "",
          window,
          device.describe(),
          preparation.line());
      report.text(
          HEADER, "SIZE", "COUNT", "P50 us", "P99 us", "P99.9 us", "GB/s", "MSG/s", "ERRORS");
      RailsUp.Column column = new RailsUp.Column(report, links.toNext().rails().size());
      column.header();
      List<Map<String, Object>> results = new ArrayList<>();
      new PerfRun(plan, links, report)
          .run(
              row -> {
                rows.add(row);
                print(report, row);
                RailsUp rails = RailsUp.ofAll(links);
                column.row(rails);
                results.add(fields(row, rails));
              });
      long errors =
          Stream.concat(prepared.stream(), rows.stream()).mapToLong(PerfRow::errors).sum();
      if (errors > 0) {
        report.text("%n%d ERRORS%n", errors);
      }
      List<RailLoad> loads = RailLoad.of(links.toNext().rails(), operation == PerfOperation.READ);
      if (loads.size() > 1) {
        report.text("%n");
        loads.forEach(load -> report.text("%s%n", load));
      }
      CacheLoad cache = new CacheLoad(device.device().cacheStatistics());
      if (options.verbose) {
        report.text("%n%s%n", cache);
      }
      Map<String, Object> settings = new LinkedHashMap<>();
      settings.put("operation", name);
      settings.put("bidirectional", bidirectional);
      settings.put("window", window);
      preparation.describe(settings);
      settings.put("errors", errors);
      settings.put("registersOnce", registersOnce);
      settings.put("registrationCache", cache.fields());
      settings.put("railLoads", loads.stream().map(RailLoad::fields).toList());
      report.document(fabric, device, settings, results);
      return errors == 0;
    }
  }

  private Preparation prepare(
      PerfPlan plan,
      FabricChoice fabric,
      RankDevice device,
      RingLinks links,
      boolean prints,
      List<PerfRow> rows) {
    int eagerBytes = device.device().properties().limits().eagerBytes();
    return options.prepare(
        spec,
        prints,
        fabric,
        links,
        rounds -> {
          double nanos = 0;
          for (PerfPlan some : plan.forPreparation(rounds, eagerBytes)) {
            new PerfRun(some, links, done -> {}).run(rows::add);
            nanos += rows.getLast().p50Nanos();
          }
          return Math.round(nanos);
        });
  }

  private static void print(RankReport report, PerfRow row) {
    report.text(
        ROW,
        ByteSizes.format(row.bytes()),
        row.count(),
        row.p50Nanos() / 1e3,
        row.p99Nanos() / 1e3,
        row.p999Nanos() / 1e3,
        row.bytesPerSecond() / 1e9,
        row.messagesPerSecond(),
        row.errors());
  }

  private static Map<String, Object> fields(PerfRow row, RailsUp rails) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("bytes", row.bytes());
    fields.put("count", row.count());
    fields.put("latencyP50Nanos", row.p50Nanos());
    fields.put("latencyP99Nanos", row.p99Nanos());
    fields.put("latencyP999Nanos", row.p999Nanos());
    fields.put("bytesPerSecond", row.bytesPerSecond());
    fields.put("messagesPerSecond", row.messagesPerSecond());
    fields.put("errors", row.errors());
    rails.describe(fields);
    return fields;
  }
}
