package org.jofi.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jofi.cli.allreduce.AllReducePlan;
import org.jofi.cli.allreduce.AllReduceRow;
import org.jofi.cli.allreduce.AllReduceRun;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.cli.ranks.RankDevice;
import org.jofi.cli.ranks.RingLinks;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Sums arrays over ranks, checks every element, and prints how fast that was. */
@Command(
    name = "allreduce",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Sums arrays of float32 over all ranks with a ring all-reduce, checks every element against"
          + " the exact sum, and prints how fast that was.",
      "Starts the ranks on this machine; under mpirun, srun or torchrun each process is one rank."
          + " Where rank 0 is, those say, or MASTER_ADDR and MASTER_PORT do."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  jofi allreduce --ranks 4",
      "  jofi allreduce --rails 4 --bytes 4,64K,256M --provider tcp",
      "  jofi allreduce -b 1M -e 1G -f 4 --iterations 20 --json",
      "  jofi allreduce --provider sim:cxi --ranks 8",
      "  mpirun -n 16 --hostfile hosts -x MASTER_ADDR=node1 jofi allreduce",
      "",
      "TIME is a round's of its slowest rank, from one entry of all ranks to the last exit. ALGBW is"
          + " the array's length over the median time; BUSBW that times 2 (n - 1) / n, what each"
          + " rank's NICs must at least carry each way."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every element of every round was right",
      "1:some were wrong, or a rank failed",
      "2:wrong usage",
      "3:something is missing on this machine"
    })
final class AllReduceCommand implements Callable<Integer> {
  private static final String HEADER = "%10s %12s %8s %12s %12s %10s %10s %8s%n";
  private static final String ROW = "%10s %12d %8d %12.1f %12.1f %10.3f %10.3f %8d%n";

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Option(
      names = {"-n", "--ranks"},
      paramLabel = "N",
      defaultValue = "2",
      description = "Ranks to start here, 1 to 64. Default: ${DEFAULT-VALUE}.")
  private int ranks;

  @Option(
      names = {"-s", "--bytes"},
      paramLabel = "SIZE",
      description = "Lengths of the array, such as 4,64K,256M, in place of a range.")
  private @Nullable String bytes;

  @CommandLine.Mixin private SizeRange range;

  @Option(
      names = {"-k", "--iterations"},
      paramLabel = "K",
      defaultValue = "0",
      description = "Measured rounds of each length. Default: 5 to 500, fewer the longer it is.")
  private int iterations;

  @Option(
      names = {"-w", "--warmup"},
      paramLabel = "K",
      defaultValue = "-1",
      description =
          "Rounds before them, checked as well. Default: a tenth of the iterations, at least 2.")
  private int warmup;

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
      description = "Most messages in flight each way, 1 to 64. Default: ${DEFAULT-VALUE}.")
  private int window;

  @Option(
      names = "--memory",
      paramLabel = "KIND",
      defaultValue = "host",
      description = "Where the arrays live: host.")
  private String memory;

  @CommandLine.Mixin private RankOptions options;

  @Override
  public Integer call() {
    AllReducePlan plan;
    try {
      plan = plan();
    } catch (IllegalArgumentException e) {
      throw new CommandLine.ParameterException(
          spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
    Map<String, String> parameters = new LinkedHashMap<>();
    parameters.put("the command", "allreduce");
    parameters.put("--bytes", plan.sizesBytes().toString());
    parameters.put("--iterations", Integer.toString(iterations));
    parameters.put("--warmup", Integer.toString(warmup));
    parameters.put("--chunk", chunk);
    parameters.put("--window", Integer.toString(window));
    options.describe(parameters);
    return new RankLauncher(
            spec,
            options,
            parameters,
            options::transport,
            (fabric, device, links) -> run(plan, fabric, device, links))
        .run(ranks);
  }

  private AllReducePlan plan() {
    options.check();
    if (ranks < 1 || ranks > 64) {
      throw new IllegalArgumentException("--ranks must be 1 to 64, is " + ranks);
    }
    if (!memory.equals("host")) {
      throw new IllegalArgumentException(
          "--memory %s: arrays can only live in host memory".formatted(memory));
    }
    long chunkBytes = ByteSizes.parse(chunk);
    if (chunkBytes > 1L << 30) {
      throw new IllegalArgumentException("--chunk must be at most 1G, is " + chunk);
    }
    return new AllReducePlan(
        range.sizes(bytes, "4", "64M", 16), iterations, warmup, (int) chunkBytes, window);
  }

  private boolean run(AllReducePlan plan, FabricChoice fabric, RankDevice device, RingLinks links) {
    int world = links.bootstrap().size();
    List<AllReduceRow> rows = new ArrayList<>();
    boolean prints = links.bootstrap().rank() == 0;
    try (RankReport report = new RankReport(spec, options, prints, "allreduce", plan.rounds())) {
      report.text("ring all-reduce, sum of float32, %d rank(s); %s%n%n", world, device.describe());
      report.text(
          HEADER,
          "SIZE",
          "COUNT",
          "ROUNDS",
          "TIME us",
          "BEST us",
          "ALGBW GB/s",
          "BUSBW GB/s",
          "ERRORS");
      new AllReduceRun(plan, links, report)
          .run(
              row -> {
                rows.add(row);
                print(report, row);
              });
      long wrong = rows.stream().mapToLong(AllReduceRow::wrong).sum();
      report.text(
          wrong == 0
              ? "%nevery element of every round was the exact sum%n"
              : "%n%d elements were WRONG%n",
          wrong);
      Map<String, Object> settings = new LinkedHashMap<>();
      settings.put("collective", "allreduce");
      settings.put("algorithm", "ring");
      settings.put("type", "float32");
      settings.put("ranks", world);
      settings.put("chunkBytes", plan.chunkBytes());
      settings.put("window", plan.window());
      settings.put("errors", wrong);
      report.document(
          fabric, device, settings, rows.stream().map(AllReduceCommand::fields).toList());
      return wrong == 0;
    }
  }

  private static void print(RankReport report, AllReduceRow row) {
    report.text(
        ROW,
        ByteSizes.format(row.bytes()),
        row.bytes() / Float.BYTES,
        row.iterations(),
        row.medianNanos() / 1e3,
        row.bestNanos() / 1e3,
        row.algorithmBytesPerSecond() / 1e9,
        row.busBytesPerSecond() / 1e9,
        row.wrong());
  }

  private static Map<String, Object> fields(AllReduceRow row) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("bytes", row.bytes());
    fields.put("elements", row.bytes() / Float.BYTES);
    fields.put("iterations", row.iterations());
    fields.put("medianNanos", row.medianNanos());
    fields.put("bestNanos", row.bestNanos());
    fields.put("algorithmBytesPerSecond", row.algorithmBytesPerSecond());
    fields.put("busBytesPerSecond", row.busBytesPerSecond());
    fields.put("errors", row.wrong());
    return fields;
  }
}
