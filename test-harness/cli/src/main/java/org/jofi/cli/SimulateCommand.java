package org.jofi.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import org.jofi.simulated.Fault;
import org.jofi.simulated.FaultPlan;
import org.jofi.simulated.Profile;
import org.jofi.simulated.workload.Workload;
import org.jofi.simulated.workload.WorkloadOptions;
import org.jofi.simulated.workload.WorkloadReport;
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
public final class SimulateCommand implements Callable<Integer> {
  private static final int SHOWN_FAILURES = 3;

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Option(
      names = "--profile",
      paramLabel = "P",
      description = "efa, cxi, cxi-client-key or tcp; without it, each of them.")
  private String profile;

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
        out.println(toJson(options, report));
      } else {
        print(out, options, report);
      }
      out.flush();
    }
    return clean ? 0 : 1;
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
    boolean terminal = System.console() != null && System.console().isTerminal() && !json;
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
    for (WorkloadReport.Failure failure : report.failures().stream().limit(SHOWN_FAILURES).toList()) {
      out.println();
      out.println("seed " + failure.seed() + " failed: " + failure.reason().strip());
      out.println("reproduce: " + failure.reproduce());
    }
  }

  private static String toJson(WorkloadOptions options, WorkloadReport report) {
    StringJoiner counts = new StringJoiner(",", "{", "}");
    report.faults().forEach((fault, count) -> counts.add(quote(fault.option()) + ":" + count));
    StringJoiner failures = new StringJoiner(",", "[", "]");
    for (WorkloadReport.Failure failure : report.failures()) {
      failures.add(
          "{\"seed\":%d,\"reason\":%s,\"reproduce\":%s}"
              .formatted(failure.seed(), quote(failure.reason()), quote(failure.reproduce())));
    }
    return ("{\"profile\":%s,\"runs\":%d,\"operations\":%d,\"nanos\":%d,\"failed\":%d,"
            + "\"violations\":%d,\"traceHash\":%s,\"faults\":%s,\"failures\":%s}")
        .formatted(
            quote(options.profile().name()),
            report.runs(),
            report.operations(),
            report.nanos(),
            report.failed(),
            report.violations(),
            quote(Long.toHexString(report.traceHash())),
            counts,
            failures);
  }

  private static String quote(String text) {
    StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"', '\\' -> quoted.append('\\').append(c);
        case '\n' -> quoted.append("\\n");
        default -> {
          if (c < ' ') {
            quoted.append("\\u%04x".formatted((int) c));
          } else {
            quoted.append(c);
          }
        }
      }
    }
    return quoted.append('"').toString();
  }

  /** A bar on one line of a terminal, drawn at most ten times a second. */
  private static final class ProgressLine implements LongConsumer {
    private static final int WIDTH = 40;
    private static final long PERIOD_NANOS = 100_000_000;

    private final PrintWriter err;
    private final String label;
    private final long total;
    private final boolean color;
    private long drawnAt = System.nanoTime() - PERIOD_NANOS;

    ProgressLine(PrintWriter err, String label, long total, boolean color) {
      this.err = err;
      this.label = label;
      this.total = total;
      this.color = color;
    }

    @Override
    public void accept(long done) {
      long now = System.nanoTime();
      if (now - drawnAt < PERIOD_NANOS && done < total) {
        return;
      }
      drawnAt = now;
      int filled = (int) (WIDTH * done / total);
      String bar = "#".repeat(filled) + ".".repeat(WIDTH - filled);
      err.printf(
          "\r%-16s [%s] %d/%d", label, color ? "\u001B[32m" + bar + "\u001B[0m" : bar, done, total);
      err.flush();
    }

    void clear() {
      err.print("\r" + " ".repeat(WIDTH + 48) + "\r");
      err.flush();
    }
  }
}
