package org.jofi.cli.ranks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jofi.ranks.JoinOptions;
import org.jofi.ranks.Placement;
import org.jofi.ranks.RanksException;

/**
 * How a rank is a process of this machine: the same program on the same Java runtime, with its
 * {@link Placement} in the environment. When the process that started it ends, in any way, the rank
 * ends, too.
 */
public final class RankProcess {
  /** The system property for the java program that starts ranks, instead of this runtime's. */
  public static final String JAVA = "jofi.java";

  static final String PARENT = "JOFI_PARENT";
  private static final long KILL_WITHIN_SECONDS = 5;
  private static final MemoryKiller MEMORY_KILLER = new MemoryKiller();
  private static final int LEAST_SIGNAL_CODE = 129;
  private static final int MOST_SIGNAL_CODE = 128 + 64;

  private RankProcess() {}

  /**
   * A rank that is not started yet. Its standard input is a pipe, whose end ends it.
   *
   * @param program the class whose main method it runs
   * @param before words before the command line, such as of a program that moves it into a network
   *     namespace
   * @param options options of its Java runtime, after this one's
   * @param arguments arguments of its command line
   */
  public static ProcessBuilder builder(
      Class<?> program,
      Placement placement,
      String secret,
      List<String> before,
      List<String> options,
      List<String> arguments) {
    List<String> command = new ArrayList<>(before);
    command.addAll(command(program, options, arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectInput(ProcessBuilder.Redirect.PIPE);
    builder.environment().putAll(placement.environment());
    builder.environment().putAll(Map.of(JoinOptions.SECRET_VARIABLE, secret, PARENT, "stdin"));
    return builder;
  }

  /**
   * Starts it.
   *
   * @throws RanksException if it cannot be started
   */
  public static Process start(ProcessBuilder builder, Placement placement) {
    try {
      Process process = builder.start();
      SharedMemory.clearAfter(process.toHandle());
      return process;
    } catch (IOException e) {
      throw new RanksException(
          "cannot start rank %d of %d: %s"
              .formatted(placement.rank(), placement.size(), e.getMessage()),
          e);
    }
  }

  /** Kills it if it lives, and removes what it left. */
  public static void end(Process process) {
    process.destroyForcibly();
    try {
      if (process.waitFor(KILL_WITHIN_SECONDS, TimeUnit.SECONDS)) {
        SharedMemory.clear(process.pid());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether an exit code says that a signal ended a process. */
  static boolean isSignal(int code) {
    return code >= LEAST_SIGNAL_CODE && code <= MOST_SIGNAL_CODE;
  }

  /** How a process ended, in words. */
  public static String describe(long pid, int code) {
    if (!isSignal(code)) {
      return "(process %d) ended with exit code %d".formatted(pid, code);
    }
    int signal = code - 128;
    String name =
        switch (signal) {
          case 2 -> " (SIGINT)";
          case 6 -> " (SIGABRT)";
          case 7 -> " (SIGBUS)";
          case 9 -> " (SIGKILL)" + MEMORY_KILLER.words();
          case 11 -> " (SIGSEGV)";
          case 15 -> " (SIGTERM)";
          default -> "";
        };
    return "(process %d) was killed by signal %d%s".formatted(pid, signal, name);
  }

  /** The command line of this program on this runtime, with the same JVM options and more. */
  private static List<String> command(
      Class<?> program, List<String> options, List<String> arguments) {
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
    command.addAll(options);
    String classPath = System.getProperty("java.class.path", "");
    if (!classPath.isEmpty()) {
      command.add("-cp");
      command.add(classPath);
    }
    String module = System.getProperty("jdk.module.main");
    if (module == null) {
      command.add(program.getName());
    } else {
      command.add("-m");
      command.add(module + "/" + program.getName());
    }
    command.addAll(arguments);
    return command;
  }
}
