package org.jofi.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.cli.ranks.RankProcess;
import org.jofi.cli.ranks.RankProcesses;
import org.jofi.cli.soak.Difference;
import org.jofi.cli.soak.FaultChoice;
import org.jofi.cli.soak.FaultKind;
import org.jofi.cli.soak.RailNetwork;
import org.jofi.cli.soak.Soak;
import org.jofi.cli.soak.SoakOptions;
import org.jofi.cli.soak.SoakOutcome;
import org.jofi.cli.soak.SoakRank;
import org.jofi.fabric.FabricProvider;
import org.jofi.ranks.Placement;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs ranks for a long time under faults, and compares the end with the start. */
@Command(
    name = "soak",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Runs ranks for minutes or days under random faults: all-reduces, messages, writes and reads,"
          + " of which every byte is checked, while communicators are connected and closed, memory is"
          + " registered and freed, rails fail, and ranks are stopped or killed and started again.",
      "At the end memory, descriptors, threads and registrations are compared with the start, and all"
          + " rails must be in use again. Faults of rails need root: each rank then lives in a network"
          + " namespace of its own, with rails of 1 Gbit/s between them."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  jofi soak",
      "  jofi soak --minutes 480 --ranks 4 --json > night.json",
      "  jofi soak --faults cut,kill --seed 42 -v",
      "  jofi soak --faults none --provider shm --rails 1",
      "",
      "Faults: cut (a link is down), blackhole (what one side sends over a rail is lost), loss (1 to 5 %%"
          + " of it is), slow (it has 1/10 or 1/100 of its rate), stop (a rank's process is stopped),"
          + " kill (a rank is killed, and started again). At any time at least one rail is sound."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:everything held",
      "1:something did not; the first such thing is told, with the seed",
      "2:wrong usage",
      "3:something is missing on this machine"
    })
final class SoakCommand implements Callable<Integer> {
  private static final int MOST_RANKS = 16;
  private static final int MOST_MINUTES = 60 * 24 * 30;
  private static final long BYTES_PER_RANK = 512L << 20;

  /** The whole heap is resident from the start on, so that what grows beside it is seen. */
  private static final List<String> HEAP = List.of("-Xms192m", "-Xmx192m", "-XX:+AlwaysPreTouch");

  /** malloc gives back what is freed, and so grows only if something is not. */
  private static final Map<String, String> MALLOC =
      Map.of("MALLOC_ARENA_MAX", "2", "MALLOC_MMAP_THRESHOLD_", "131072");

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Option(
      names = {"-m", "--minutes"},
      paramLabel = "N",
      defaultValue = "5",
      description =
          "For how long faults come, such as 0.5, and one in any case; the beginning and the end take"
              + " a minute or two more. Default: ${DEFAULT-VALUE}.")
  private double minutes;

  @Option(
      names = {"-n", "--ranks"},
      paramLabel = "N",
      defaultValue = "2",
      description = "Ranks to start here, 2 to " + MOST_RANKS + ". Default: ${DEFAULT-VALUE}.")
  private int ranks;

  @Option(
      names = "--rails",
      paramLabel = "N",
      defaultValue = "4",
      description = "Rails of each rank, 1 to 8. Default: ${DEFAULT-VALUE}.")
  private int rails;

  @Option(
      names = {"-p", "--provider"},
      paramLabel = "P",
      description =
          "A provider that libfabric lists. Faults of rails need one that uses network interfaces:"
              + " net, tcp or sockets. Default: net, which libfabric 2 calls tcp.")
  private @Nullable String provider;

  @Option(
      names = "--faults",
      paramLabel = "LIST",
      description =
          "Faults with commas between, as listed below; or none. Default: all that this machine"
              + " permits.")
  private @Nullable String faults;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description =
          "Chooses rounds and faults; what happens at the same time depends on the machine as well."
              + " Default: a random one, which is printed.")
  private @Nullable Long seed;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description =
          "A rank fails after this time without progress, 30 to 3600: faults last up to 10 s, and TCP"
              + " needs some more. Default: ${DEFAULT-VALUE}.")
  private int timeoutSeconds;

  @Option(
      names = {"-v", "--verbose"},
      description = "Tell of each fault and each generation, on standard error.")
  private boolean verbose;

  @Option(names = "--json", description = "Print one JSON document at the end.")
  private boolean json;

  /** The rails of a rank; the process that starts ranks passes this. */
  @Option(names = "--device", hidden = true, defaultValue = "")
  private String device;

  @Override
  public Integer call() throws IOException {
    Optional<Placement> placement = Placement.of(System.getenv()).filter(Placement::isForked);
    if (placement.isEmpty()) {
      return start();
    }
    SoakRank rank =
        new SoakRank(
            placement.get(),
            Duration.ofSeconds(timeoutSeconds),
            new PrintStream(System.out, true, StandardCharsets.UTF_8));
    RankProcesses.secretOfThisRank(rank::order);
    return rank.run(FabricChoice.of(provider), device, rails) ? ExitCode.OK : ExitCode.ENVIRONMENT;
  }

  private int start() throws IOException {
    Set<FaultKind> wanted;
    String over;
    FabricChoice fabric;
    try {
      wanted = checked();
      over = provider == null ? usualProvider() : provider;
      fabric = FabricChoice.of(over);
    } catch (IllegalArgumentException e) {
      throw new CommandLine.ParameterException(
          spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
    if (fabric.isSimulated()) {
      throw new CommandLine.ParameterException(
          spec.commandLine(),
          "ranks of a soak are processes, which the simulated fabric does not reach; jofi simulate"
              + " runs random work under faults on it");
    }
    RailNetwork.removeAtEnd();
    FaultChoice choice =
        FaultChoice.of(wanted, rails, over, RailNetwork::obstacle, RailNetwork::obstacleToLoss);
    tell(choice);
    MachineMemory.require(ranks, BYTES_PER_RANK);
    MachineProcesses.require(ranks);
    boolean needsNetwork = choice.permitted().stream().anyMatch(FaultKind::isOfRail);
    SoakOptions options =
        new SoakOptions(
            ranks,
            rails,
            Duration.ofMillis((long) (minutes * 60_000)),
            seed == null ? new SecureRandom().nextLong(1L << 32) : seed,
            choice.permitted(),
            Duration.ofSeconds(timeoutSeconds));
    if (!needsNetwork) {
      return run(options, over, Optional.empty());
    }
    try (RailNetwork network = new RailNetwork(ranks, rails)) {
      return run(options, over, Optional.of(network));
    }
  }

  /**
   * Checks the options.
   *
   * @return the faults that are wanted
   */
  private Set<FaultKind> checked() {
    if (!(minutes > 0 && minutes <= MOST_MINUTES)) {
      throw new IllegalArgumentException(
          "--minutes must be more than 0, and %d at most, is %s".formatted(MOST_MINUTES, minutes));
    }
    require("--ranks", ranks, 2, MOST_RANKS);
    require("--rails", rails, 1, TransportOptions.MAX_RAILS);
    require("--timeout", timeoutSeconds, 30, 3600);
    return faults == null ? EnumSet.allOf(FaultKind.class) : FaultKind.parse(faults);
  }

  private static void require(String option, int given, int least, int most) {
    if (given < least || given > most) {
      throw new IllegalArgumentException(
          "%s must be %d to %d, is %d".formatted(option, least, most, given));
    }
  }

  private static String usualProvider() {
    return FabricProvider.named("libfabric").version().startsWith("libfabric 1.") ? "net" : "tcp";
  }

  /** Tells what is left out, or refuses to go on if it was asked for. */
  private void tell(FaultChoice choice) {
    for (FaultChoice.LeftOut left : choice.leftOut()) {
      if (faults == null) {
        say("jofi: left out here: " + left);
      } else if (left.isUsage()) {
        throw new CommandLine.ParameterException(spec.commandLine(), "--faults " + left);
      } else {
        throw new TransportException(FailureCause.UNAVAILABLE, "--faults " + left);
      }
    }
  }

  private int run(SoakOptions options, String over, Optional<RailNetwork> network)
      throws IOException {
    Path logs = Files.createTempDirectory("jofi-soak-");
    PrintWriter out = spec.commandLine().getOut();
    if (!json) {
      out.printf(
          Locale.ROOT,
          "soak, %d ranks, %d rails of %s, %.1f minutes, faults %s, seed %d%n",
          ranks,
          rails,
          over,
          minutes,
          FaultKind.texts(options.faults()),
          options.seed());
      out.flush();
    }
    long seconds = Math.max(1, options.length().toSeconds());
    ProgressLine bar =
        new ProgressLine(
            spec.commandLine().getErr(), "soak, s", seconds, System.getenv("NO_COLOR") == null);
    boolean draws = ProgressLine.isWanted() && !json;
    LongConsumer progress = done -> bar.accept(Math.min(done, seconds));
    SoakOutcome outcome;
    try (Soak soak =
        new Soak(
            options,
            network,
            placed -> process(placed, over, network),
            logs,
            verbose ? this::say : line -> {},
            draws ? progress : done -> {})) {
      outcome = soak.run();
    } catch (TransportException e) {
      // Something is missing, which its message says.
      delete(logs);
      throw e;
    } finally {
      if (draws) {
        bar.clear();
      }
    }
    print(out, outcome, logs);
    if (outcome.difference().isPresent()) {
      return ExitCode.FAILED;
    }
    delete(logs);
    return ExitCode.OK;
  }

  private void print(PrintWriter out, SoakOutcome outcome, Path logs) {
    if (json) {
      out.println(Json.pretty(outcome.fields()));
    } else {
      out.print(outcome.text());
    }
    out.flush();
    Optional<Difference> difference = outcome.difference();
    if (difference.isPresent()) {
      say(
          "jofi: it did not hold: %s%nseed %d; run it again with --seed %d; what the ranks said is in %s"
              .formatted(
                  difference.get(), outcome.options().seed(), outcome.options().seed(), logs));
    } else if (!json) {
      out.printf("%neverything held%n");
      out.flush();
    }
  }

  private ProcessBuilder process(Placement placed, String over, Optional<RailNetwork> network) {
    List<String> arguments =
        new ArrayList<>(
            List.of(spec.name(), "--provider", over, "--rails", Integer.toString(rails)));
    arguments.addAll(List.of("--timeout", Integer.toString(timeoutSeconds)));
    network.ifPresent(rail -> arguments.addAll(List.of("--device", rail.device())));
    ProcessBuilder builder =
        RankProcess.builder(
            Jofi.class,
            placed,
            "",
            network.map(rail -> rail.moving(placed.rank())).orElse(List.of()),
            HEAP,
            arguments);
    builder.environment().putAll(MALLOC);
    return builder;
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  private void say(String line) {
    PrintWriter err = spec.commandLine().getErr();
    err.println(line);
    err.flush();
  }
}
