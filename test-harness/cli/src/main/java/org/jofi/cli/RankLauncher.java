package org.jofi.cli;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jofi.cli.ranks.BoundedWait;
import org.jofi.cli.ranks.CommonRails;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.cli.ranks.FabricEnd;
import org.jofi.cli.ranks.Guide;
import org.jofi.cli.ranks.RankDevice;
import org.jofi.cli.ranks.RankFailure;
import org.jofi.cli.ranks.RankProcesses;
import org.jofi.cli.ranks.RankThreads;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.cli.ranks.Roles;
import org.jofi.collectives.Group;
import org.jofi.collectives.MismatchException;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.ranks.JoinOptions;
import org.jofi.ranks.Placement;
import org.jofi.ranks.RankServer;
import org.jofi.ranks.RankTimeoutException;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.RanksException;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RailStatus;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * Runs a command's ranks. If a launcher placed this process as a rank, it runs that rank. Otherwise
 * it starts the ranks as processes or, on a simulated fabric, as threads.
 */
final class RankLauncher {
  private static final Path INTERFACES = Path.of("/sys/class/net");

  /** What a rank does when it is connected in a ring. */
  @FunctionalInterface
  interface Program {
    /** Runs one rank. */
    Outcome run(FabricChoice fabric, RankDevice device, RingLinks links);
  }

  /**
   * What came of a rank.
   *
   * @param right whether all its checks succeeded
   * @param carried what the rails of its connection to the next rank carried; empty if it has none
   */
  record Outcome(boolean right, List<RailStatus> carried) {
    /** Of a program that runs in a group of all ranks, which is ended with it. */
    static Outcome of(Group group, RingLinks links, BooleanSupplier program) {
      try {
        boolean right = program.getAsBoolean();
        // Wait for all ranks, so that none closes a connection that another one still uses.
        links.gather(new byte[0]);
        List<RailStatus> carried = group.railsTo((group.rank() + 1) % group.size());
        group.close();
        return new Outcome(right, carried);
      } catch (MismatchException e) {
        abort(group, e);
        throw new RankFailure(String.valueOf(e.getMessage()));
      } catch (RuntimeException | Error e) {
        abort(group, e);
        throw e;
      }
    }

    /** What a dead peer left with the NIC may not end in time: that is no reason, but a result. */
    private static void abort(Group group, Throwable reason) {
      try {
        group.abort();
      } catch (TransportException e) {
        reason.addSuppressed(e);
      }
    }
  }

  private final CommandLine.Model.CommandSpec spec;
  private final RankOptions options;
  private final Map<String, String> parameters;
  private final Supplier<TransportOptions.Builder> transport;
  private final Program program;
  private final PrintWriter err;

  /**
   * @param parameters parameters that must be the same for all ranks
   * @param transport supplies the transport's options, for each rank
   * @param program what each rank does
   */
  RankLauncher(
      CommandLine.Model.CommandSpec spec,
      RankOptions options,
      Map<String, String> parameters,
      Supplier<TransportOptions.Builder> transport,
      Program program) {
    this.spec = spec;
    this.options = options;
    this.parameters = parameters;
    this.transport = transport;
    this.program = program;
    this.err = spec.commandLine().getErr();
  }

  /**
   * Runs this many ranks, unless the environment places this process as one of them.
   *
   * @param explicit the option with which the user gave the number of ranks, or null if the user
   *     gave none
   * @param check throws if no rank can run here. It is called before ranks are started, so that the
   *     message comes only once
   */
  int run(int ranks, @Nullable String explicit, Runnable check) {
    String secret = RankProcesses.secretOfThisRank();
    Optional<Placement> placement;
    try {
      placement = Placement.of(System.getenv());
    } catch (IllegalArgumentException e) {
      throw new CommandLine.ParameterException(
          spec.commandLine(), Guide.RANKS.after(String.valueOf(e.getMessage())), e);
    }
    FabricChoice fabric;
    try {
      fabric = FabricChoice.of(options.provider);
    } catch (IllegalArgumentException e) {
      throw new CommandLine.ParameterException(
          spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
    if (placement.isPresent()) {
      Placement placed = placement.get();
      if (placed.isForked()) {
        return place(fabric, placed, secret, false, port -> {});
      }
      // Other ranks would print the same, except that a user at a terminal watches only this rank.
      if (placed.rank() == 0 || ProgressLine.isWanted()) {
        say(placedBy(placed, explicit));
      }
      return place(fabric, placed, secret, placed.rank() == 0, port -> {});
    }
    check.run();
    if (fabric.isSimulated()) {
      err.println(fabric.notice());
      err.flush();
    }
    if (fabric.isSimulated() || options.rankThreads) {
      return RankThreads.run(ranks, options.timeout(), placed -> runRank(fabric, placed, ""));
    }
    MachineProcesses.require(ranks);
    MachineProcesses.turns(ranks).ifPresent(this::say);
    return RankProcesses.run(Jofi.class, ranks, arguments(), options.timeout(), err);
  }

  /** How many ranks a launcher says that there are; what is wrong with its words comes later. */
  static Optional<Integer> placedRanks() {
    try {
      return Placement.of(System.getenv()).map(Placement::size);
    } catch (IllegalArgumentException later) {
      return Optional.empty();
    }
  }

  private static String placedBy(Placement placed, @Nullable String explicit) {
    return "placed by %s (%s) as rank %d of %d; unset them to start ranks here%s"
        .formatted(
            placed.origin(),
            placed.variables(),
            placed.rank(),
            placed.size(),
            explicit == null ? "" : "; " + explicit + " is ignored");
  }

  /**
   * Runs this process as one rank, and also as the bootstrap server if it is to.
   *
   * @param listening is called with the server's port
   */
  int place(
      FabricChoice fabric,
      Placement placement,
      String secret,
      boolean serves,
      IntConsumer listening) {
    if (!fabric.missing().isEmpty()) {
      throw new FabricUnavailableException(
          "%s%nThe simulated fabric, which needs none, does not reach beyond a process; %s placed this one as rank %d of %d"
              .formatted(fabric.missing(), placement.origin(), placement.rank(), placement.size()));
    }
    if (fabric.isSimulated()) {
      throw new CommandLine.ParameterException(
          spec.commandLine(),
          "the simulated fabric does not reach beyond a process, and %s placed this one as rank %d of %d"
              .formatted(placement.origin(), placement.rank(), placement.size()));
    }
    if (!serves) {
      return runRank(fabric, placement, secret);
    }
    try (RankServer server =
        RankServer.open(
            new InetSocketAddress(placement.port()),
            placement.size(),
            JoinOptions.defaults().withSecret(secret).withNames(Roles.of(placement)),
            options.timeout(),
            RankServer.Watch.CONNECTIONS)) {
      listening.accept(server.port());
      Placement here =
          new Placement(
              placement.rank(),
              placement.size(),
              placement.localRank(),
              "127.0.0.1",
              server.port(),
              placement.origin());
      return runRank(fabric, here, secret);
    }
  }

  private int runRank(FabricChoice fabric, Placement placement, String secret) {
    JoinOptions joining =
        JoinOptions.defaults()
            .withSecret(secret)
            .withParameters(parameters)
            .withNames(Roles.of(placement))
            .withServing(false);
    try (Ranks bootstrap = Ranks.join(placement, joining, options.timeout())) {
      try {
        return connectAndRun(fabric, placement, bootstrap);
      } catch (RuntimeException | AssertionError | OutOfMemoryError e) {
        return explain(placement, bootstrap, e);
      }
    } catch (RankTimeoutException e) {
      return stopped(placement, Guide.RANKS.after(String.valueOf(e.getMessage())));
    } catch (RanksException e) {
      return stopped(placement, String.valueOf(e.getMessage()));
    }
  }

  private int connectAndRun(FabricChoice fabric, Placement placement, Ranks bootstrap) {
    CommonRails common;
    try (RankDevice chosen =
        RankDevice.open(fabric, transport.get(), options.device, options.railCount())) {
      common = FabricEnd.exchange(bootstrap, FabricEnd.of(fabric, chosen), options.timeout());
      common.leftOut(bootstrap).ifPresent(this::say);
      if (common.isUnchanged(bootstrap.rank())) {
        return connectAndRun(fabric, chosen, common.ends(), placement, bootstrap);
      }
    }
    String names = common.names(bootstrap.rank());
    try (RankDevice matched = RankDevice.open(fabric, transport.get(), names, 0)) {
      return connectAndRun(fabric, matched, common.ends(), placement, bootstrap);
    }
  }

  private int connectAndRun(
      FabricChoice fabric,
      RankDevice device,
      List<FabricEnd> ends,
      Placement placement,
      Ranks bootstrap) {
    FabricEnd mine = ends.get(bootstrap.rank());
    RailRoutes routes = new RailRoutes(INTERFACES, mine.rails());
    BoundedWait patience = new BoundedWait(bootstrap, options.timeout());
    RingLinks links = connect(ends, device, placement, bootstrap, patience);
    Outcome outcome;
    try {
      outcome = program.run(fabric, device, links);
      if (mine.isElsewhere(ends.get((bootstrap.rank() + 1) % ends.size()))) {
        routes.astray(outcome.carried()).forEach(this::say);
      }
      // Wait for all ranks, so that none closes a connection that a neighbour still uses.
      links.gather(new byte[0]);
    } catch (RuntimeException | AssertionError | OutOfMemoryError e) {
      // Explain it before anything is closed, since closing may take its whole time limit.
      int code = explain(placement, bootstrap, e);
      links.abort();
      return code;
    }
    links.close();
    return outcome.right() ? ExitCode.OK : ExitCode.FAILED;
  }

  private RingLinks connect(
      List<FabricEnd> ends,
      RankDevice device,
      Placement placement,
      Ranks bootstrap,
      BoundedWait patience) {
    try {
      return RingLinks.connect(bootstrap, device.device(), patience);
    } catch (TransportException e) {
      if (e.getCause() instanceof FabricException) {
        // The device did not open, whatever the others chose.
        throw e;
      }
      throw new TransportException(
          e.failure().cause(),
          FabricEnd.explain(String.valueOf(e.getMessage()), placement.address(), bootstrap, ends),
          e);
    } catch (RankFailure e) {
      throw new RankFailure(
          FabricEnd.explain(String.valueOf(e.getMessage()), placement.address(), bootstrap, ends));
    }
  }

  /** Tells the user and the other ranks why this rank ends. Defects are rethrown. */
  private int explain(Placement placement, Ranks bootstrap, Throwable reason) {
    if (reason instanceof RanksException lost) {
      return stopped(placement, String.valueOf(lost.getMessage()));
    }
    bootstrap.fail(String.valueOf(reason.getMessage()));
    return switch (reason) {
      case TransportException e when e.failure().cause() != FailureCause.UNAVAILABLE -> {
        say(bootstrap.name() + ": " + e.getMessage());
        yield ExitCode.FAILED;
      }
      case TransportException _, FabricUnavailableException _ -> {
        say(Guide.ROOM.after(bootstrap.name() + ": " + reason.getMessage()));
        yield ExitCode.ENVIRONMENT;
      }
      case FabricException e -> {
        say(bootstrap.name() + ": " + e.getMessage());
        yield ExitCode.FAILED;
      }
      case RankFailure e -> {
        say(bootstrap.name() + ": " + e.getMessage());
        yield ExitCode.FAILED;
      }
      case OutOfMemoryError e -> {
        say(bootstrap.name() + ": " + MachineProcesses.explain(e));
        yield ExitCode.ENVIRONMENT;
      }
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new AssertionError(reason);
    };
  }

  private int stopped(Placement placement, String why) {
    say(
        Roles.of(placement) == Roles.SIDES
            ? "jofi: " + why
            : "rank %d stopped: %s".formatted(placement.rank(), why));
    return ExitCode.FAILED;
  }

  private void say(String line) {
    err.println(line);
    err.flush();
  }

  private List<String> arguments() {
    List<String> arguments =
        new ArrayList<>(spec.root().commandLine().getParseResult().originalArgs());
    if (ProgressLine.isWanted()) {
      arguments.add("--progress");
    }
    return arguments;
  }
}
