package org.jofi.cli.ranks;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Runs ranks as processes of this machine. The same program is started once per rank, on the same
 * Java runtime, with its {@link Placement} in the environment.
 *
 * <p>When a rank fails, the others are told, and killed if they do not end by themselves. When this
 * process ends, in any way, they end, too.
 */
public final class RankProcesses {
  /** The system property for the java program that starts ranks, instead of this runtime's. */
  public static final String JAVA = "jofi.java";

  private static final String SECRET = "JOFI_BOOTSTRAP_SECRET";
  private static final String PARENT = "JOFI_PARENT";
  private static final Duration END_WITHIN = Duration.ofSeconds(30);
  private static final Duration KILL_WITHIN = Duration.ofSeconds(5);
  private static final int FAILED = 1;
  private static final int LEAST_SIGNAL_CODE = 129;
  private static final int MOST_SIGNAL_CODE = 128 + 64;

  private record Ended(int rank, Process process) {}

  private final String mainClass;
  private final PrintWriter err;
  private final List<Process> processes = new ArrayList<>();
  private final BlockingQueue<Ended> ended;

  private RankProcesses(Class<?> program, PrintWriter err, int ranks) {
    this.mainClass = program.getName();
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
   * @throws BootstrapException if a process cannot be started
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
    if (System.getenv(PARENT) != null) {
      SharedMemory.clear(ProcessHandle.current().pid());
      ParentWatch.start(System.in);
    }
    String secret = System.getenv(SECRET);
    return secret == null ? "" : secret;
  }

  private int runAll(int ranks, List<String> arguments, Duration patience) {
    byte[] random = new byte[16];
    new SecureRandom().nextBytes(random);
    String secret = HexFormat.of().formatHex(random);
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (BootstrapServer server =
        BootstrapServer.open(anyPort, ranks, secret, patience, BootstrapServer.Watch.PROCESSES)) {
      for (int rank = 0; rank < ranks; rank++) {
        start(
            new Placement(
                rank, ranks, anyPort.getAddress().getHostAddress(), server.port(), "jofi"),
            secret,
            arguments);
      }
      return awaitAll(server);
    } finally {
      processes.forEach(RankProcesses::end);
    }
  }

  private static void end(Process process) {
    process.destroyForcibly();
    try {
      if (process.waitFor(KILL_WITHIN.toSeconds(), TimeUnit.SECONDS)) {
        SharedMemory.clear(process.pid());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void start(Placement placement, String secret, List<String> arguments) {
    ProcessBuilder builder =
        new ProcessBuilder(command(arguments))
            .redirectInput(ProcessBuilder.Redirect.PIPE)
            .redirectOutput(ProcessBuilder.Redirect.INHERIT)
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(placement.environment());
    builder.environment().putAll(Map.of(SECRET, secret, PARENT, "stdin"));
    try {
      Process process = builder.start();
      processes.add(process);
      SharedMemory.clearAfter(process.toHandle());
      Thread.ofVirtual()
          .name("rank-watch-" + placement.rank())
          .start(() -> awaitEnd(placement.rank(), process));
    } catch (IOException e) {
      throw new BootstrapException(
          "cannot start rank %d of %d: %s"
              .formatted(placement.rank(), placement.size(), e.getMessage()),
          e);
    }
  }

  private void awaitEnd(int rank, Process process) {
    try {
      process.waitFor();
      ended.add(new Ended(rank, process));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int awaitAll(BootstrapServer server) {
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
        server.lost(next.rank, describe(next.process.pid(), code));
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
      throw new BootstrapException("interrupted while ranks ran", e);
    }
  }

  /** The exit code that the rank chose; 1 if something else ended it. */
  private int own(Ended rank, int code) {
    if (!isSignal(code)) {
      return code;
    }
    if (SharedMemory.isEnding()) {
      // This process is being ended, and so are its ranks; the user need not be told.
      return FAILED;
    }
    err.printf("rank %d %s%n", rank.rank, describe(rank.process.pid(), code));
    err.flush();
    return FAILED;
  }

  private static boolean isSignal(int code) {
    return code >= LEAST_SIGNAL_CODE && code <= MOST_SIGNAL_CODE;
  }

  private static String describe(long pid, int code) {
    if (!isSignal(code)) {
      return "(process %d) ended with exit code %d".formatted(pid, code);
    }
    int signal = code - 128;
    String name =
        switch (signal) {
          case 2 -> " (SIGINT)";
          case 6 -> " (SIGABRT)";
          case 7 -> " (SIGBUS)";
          case 9 -> " (SIGKILL)";
          case 11 -> " (SIGSEGV)";
          case 15 -> " (SIGTERM)";
          default -> "";
        };
    return "(process %d) was killed by signal %d%s".formatted(pid, signal, name);
  }

  /** The command line of this program on this runtime, with the same JVM options. */
  private List<String> command(List<String> arguments) {
    List<String> command = new ArrayList<>();
    String java = System.getProperty(JAVA, "");
    command.add(
        java.isEmpty() ? Path.of(System.getProperty("java.home"), "bin", "java").toString() : java);
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // Leave out debug agents, which listen on ports, and options for the main module, which the
      // launcher sets itself.
      if (!option.startsWith("-Djdk.module.") && !option.startsWith("-agentlib:jdwp")) {
        command.add(option);
      }
    }
    String classPath = System.getProperty("java.class.path", "");
    if (!classPath.isEmpty()) {
      command.add("-cp");
      command.add(classPath);
    }
    String module = System.getProperty("jdk.module.main");
    if (module == null) {
      command.add(mainClass);
    } else {
      command.add("-m");
      command.add(module + "/" + mainClass);
    }
    command.addAll(arguments);
    return command;
  }
}
