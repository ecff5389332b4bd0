package org.jofi.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.simulated.workload.Workload;
import org.jofi.simulated.workload.WorkloadOptions;
import org.jofi.simulated.workload.WorkloadReport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs the random workload on the simulated fabric. */
@Command(
    name = "simulate",
    description = {
      "Runs a random workload of sends, receives, writes, reads, registrations and closes on the"
          + " simulated fabric, checks every byte, and counts faults and broken contracts.",
      "The same seed gives the same run. A failure prints the line that runs it again."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:every run went well", "1:a run failed", "2:wrong usage"})
final class SimulateCommand implements Callable<Integer> {
  private static final int SHOWN_FAILURES = 3;

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Option(
      names = "--profile",
      paramLabel = "P",
      description = "efa, cxi, cxi-client-key or tcp; without it, each of them.")
  private @Nullable String profile;

  @Option(
      names = "--ranks",
      paramLabel = "N",
      defaultValue = "2",
      description = "Ranks, each on a host of its own, 1 to 64. Default: ${DEFAULT-VALUE}.")
  private int ranks;

  @Option(
      names = "--rails",
      paramLabel = "R",
      defaultValue = "2",
      description = "NICs of each rank, 1 to 8. Default: ${DEFAULT-VALUE}.")
  private int rails;

  @Option(
      names = "--operations",
      paramLabel = "N",
      defaultValue = "60",
      description = "Operations of each rank in a run. Default: ${DEFAULT-VALUE}.")
  private int operations;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "The first seed; the others follow it. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--runs",
      paramLabel = "K",
      defaultValue = "1000",
      description = "Runs of each profile. Default: ${DEFAULT-VALUE}.")
  private long runs;

  @Option(
      names = "--faults",
      paramLabel = "LIST",
      defaultValue = "all",
      description =
          "none, survivable, all, or faults with or without a probability, such as"
              + " survivable,dead-rail,eagain=0.2. Default: ${DEFAULT-VALUE}.")
  private String faults;

  @Option(names = "--json", description = "Print one JSON object per profile, and no table.")
  private boolean json;

  @Override
  public Integer call() {
    List<WorkloadOptions> plans = plans();
    PrintWriter out = spec.commandLine().getOut();
    boolean clean = true;
    if (!json) {
      out.printf(
          "%-16s %8s %12s %9s %8s %10s%n",
          "profile", "runs", "operations", "seconds", "failed", "violations");
      out.flush();
    }
    for (WorkloadOptions options : plans) {
      WorkloadReport report = run(options);
      clean &= report.isClean();
      if (json) {
        out.println(Json.line(fields(options, report)));
      } else {
        print(out, options, report);
      }
      out.flush();
    }
    return clean ? ExitCode.OK : ExitCode.FAILED;
  }

  private List<WorkloadOptions> plans() {
    try {
      if (runs < 1) {
        throw new IllegalArgumentException("--runs must be at least 1, is " + runs);
      }
      FaultPlan plan = FaultPlan.parse(faults);
      List<Profile> profiles = profile == null ? Profile.ALL : List.of(Profile.named(profile));
      List<WorkloadOptions> plans = new ArrayList<>();
      for (Profile each : profiles) {
        plans.add(new WorkloadOptions(each, ranks, rails, operations, plan));
      }
      return plans;
    } catch (IllegalArgumentException e) {
      throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private WorkloadReport run(WorkloadOptions options) {
    boolean terminal = ProgressLine.isWanted() && !json;
    ProgressLine line =
        new ProgressLine(
            spec.commandLine().getErr(),
            options.profile().name(),
            runs,
            System.getenv("NO_COLOR") == null);
    LongConsumer progress = terminal ? line : done -> {};
    try {
      return Workload.run(options, seed, runs, progress);
    } finally {
      if (terminal) {
        line.clear();
      }
    }
  }

  private static void print(PrintWriter out, WorkloadOptions options, WorkloadReport report) {
    out.printf(
        Locale.ROOT,
        "%-16s %8d %12d %9.1f %8d %10d%n",
        options.profile().name(),
        report.runs(),
        report.operations(),
        report.nanos() / 1e9,
        report.failed(),
        report.violations());
    StringJoiner counts = new StringJoiner(", ");
    for (Map.Entry<Fault, Long> fault : report.faults().entrySet()) {
      if (fault.getValue() > 0) {
        counts.add(fault.getKey().option() + " " + fault.getValue());
      }
    }
    out.println("  faults: " + (counts.length() == 0 ? "none" : counts));
    StringJoiner idle = new StringJoiner(", ");
    neverStruck(options, report).forEach(fault -> idle.add(fault.option()));
    if (idle.length() > 0) {
      out.println("  never struck: " + idle);
    }
    for (WorkloadReport.Failure failure :
        report.failures().stream().limit(SHOWN_FAILURES).toList()) {
      out.println();
      out.println("seed " + failure.seed() + " failed: " + failure.reason().strip());
      out.println("reproduce: " + failure.reproduce());
    }
  }

  /**
   * The planned faults that never happened: they need more runs or do not apply to this profile.
   */
  private static List<Fault> neverStruck(WorkloadOptions options, WorkloadReport report) {
    return report.faults().entrySet().stream()
        .filter(entry -> entry.getValue() == 0 && options.faults().has(entry.getKey()))
        .map(Map.Entry::getKey)
        .toList();
  }

  private static Map<String, Object> fields(WorkloadOptions options, WorkloadReport report) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("profile", options.profile().name());
    fields.put("runs", report.runs());
    fields.put("operations", report.operations());
    fields.put("nanos", report.nanos());
    fields.put("failed", report.failed());
    fields.put("violations", report.violations());
    fields.put("traceHash", Long.toHexString(report.traceHash()));
    Map<String, Long> counts = new LinkedHashMap<>();
    report.faults().forEach((fault, count) -> counts.put(fault.option(), count));
    fields.put("faults", counts);
    fields.put("neverStruck", neverStruck(options, report).stream().map(Fault::option).toList());
    fields.put(
        "failures",
        report.failures().stream()
            .map(
                failure ->
                    Map.of(
                        "seed", failure.seed(),
                        "reason", failure.reason(),
                        "reproduce", failure.reproduce()))
            .toList());
    return fields;
  }
}
