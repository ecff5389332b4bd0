package org.jofi.cli.ranks;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jofi.ranks.JoinOptions;
import org.jofi.ranks.Placement;
import org.jofi.ranks.RankServer;
import org.jofi.ranks.RanksException;

/**
 * Runs ranks as processes of this machine. The same program is started once per rank, on the same
 * Java runtime, with its {@link Placement} in the environment.
 *
 * <p>When a rank fails, the others are told, and killed if they do not end by themselves. When this
 * process ends, in any way, they end, too.
 */
public final class RankProcesses {
  private static final Duration END_WITHIN = Duration.ofSeconds(30);
  private static final int FAILED = 1;

  private record Ended(int rank, Process process) {}

  private final Class<?> program;
  private final PrintWriter err;
  private final List<Process> processes = new ArrayList<>();
  private final BlockingQueue<Ended> ended;

  private RankProcesses(Class<?> program, PrintWriter err, int ranks) {
    this.program = program;
    this.err = err;
    this.ended = new ArrayBlockingQueue<>(ranks);
  }

  /**
   * Starts the ranks and waits for all of them. Their output goes to this process's output.
   *
   * @param program the class whose main method a rank runs
   * @param ranks number of ranks
   * @param arguments arguments of each rank's command line
   * @param patience how long it may take until all have joined
   * @param err where to print that a rank was killed
   * @return 0 if all succeeded, else the greatest exit code; a rank that was killed counts as 1
   * @throws RanksException if a process cannot be started
   */
  public static int run(
      Class<?> program, int ranks, List<String> arguments, Duration patience, PrintWriter err) {
    return new RankProcesses(program, err, ranks).runAll(ranks, arguments, patience);
  }

  /**
   * A rank that was started by this class calls this first: from then on it ends with its parent.
   * Returns the secret of the run.
   */
  public static String secretOfThisRank() {
    return secretOfThisRank(line -> {});
  }

  /**
   * As {@link #secretOfThisRank()}, for a parent that speaks.
   *
   * @param orders takes each line that the parent says, on a thread of its own
   */
  public static String secretOfThisRank(Consumer<String> orders) {
    if (System.getenv(RankProcess.PARENT) != null) {
      SharedMemory.clear(ProcessHandle.current().pid());
      ParentWatch.start(System.in, orders);
    }
    String secret = System.getenv(JoinOptions.SECRET_VARIABLE);
    return secret == null ? "" : secret;
  }

  /** A secret that nobody guesses. */
  public static String newSecret() {
    byte[] random = new byte[16];
    new SecureRandom().nextBytes(random);
    return HexFormat.of().formatHex(random);
  }

  private int runAll(int ranks, List<String> arguments, Duration patience) {
    String secret = newSecret();
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (RankServer server =
        RankServer.open(
            anyPort,
            ranks,
            JoinOptions.defaults().withSecret(secret).withNames(Roles.RANKS),
            patience,
            RankServer.Watch.PROCESSES)) {
      for (int rank = 0; rank < ranks; rank++) {
        start(
            new Placement(
                rank, ranks, anyPort.getAddress().getHostAddress(), server.port(), "jofi"),
            secret,
            arguments);
      }
      return awaitAll(server);
    } finally {
      processes.forEach(RankProcess::end);
    }
  }

  private void start(Placement placement, String secret, List<String> arguments) {
    ProcessBuilder builder =
        RankProcess.builder(program, placement, secret, List.of(), List.of(), arguments)
            .redirectOutput(ProcessBuilder.Redirect.INHERIT)
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    Process process = RankProcess.start(builder, placement);
    processes.add(process);
    Thread.ofVirtual()
        .name("rank-watch-" + placement.rank())
        .start(() -> awaitEnd(placement.rank(), process));
  }

  private void awaitEnd(int rank, Process process) {
    try {
      process.waitFor();
      ended.add(new Ended(rank, process));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int awaitAll(RankServer server) {
    int worst = 0;
    long deadline = Long.MAX_VALUE;
    try {
      for (int left = processes.size(); left > 0; left--) {
        Ended next =
            worst == 0
                ? ended.take()
                : ended.poll(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        if (next == null) {
          err.printf(
              "%d rank(s) did not end within %d s of another's end, and were killed%n",
              left, END_WITHIN.toSeconds());
          err.flush();
          return worst;
        }
        int code = next.process.exitValue();
        server.lost(next.rank, RankProcess.describe(next.process.pid(), code));
        if (code != 0) {
          if (worst == 0) {
            deadline = System.nanoTime() + END_WITHIN.toNanos();
          }
          worst = Math.max(worst, own(next, code));
        }
      }
      return worst;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RanksException("interrupted while ranks ran", e);
    }
  }

  /** The exit code that the rank chose; 1 if something else ended it. */
  private int own(Ended rank, int code) {
    if (!RankProcess.isSignal(code)) {
      return code;
    }
    if (SharedMemory.isEnding()) {
      // This process is being ended, and so are its ranks; the user need not be told.
      return FAILED;
    }
    err.printf("rank %d %s%n", rank.rank, RankProcess.describe(rank.process.pid(), code));
    err.flush();
    return FAILED;
  }
}
