package launch;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jofi.ranks.JoinOptions;
import org.jofi.ranks.Placement;
import org.jofi.ranks.RankServer;
import org.jofi.ranks.Ranks;

/**
 * Starts a program again, once for each rank, and hands over what rank 0 prints. The ranks find each
 * other at a {@link RankServer} of the process that started them, which tells the others when one dies.
 */
public final class RankLauncher {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String HERE = "127.0.0.1";

  /** Set in a process that was started as a rank: if it is the only one, nothing else says so. */
  private static final String STARTED = "JOFI_EXAMPLE_RANK";

  /** What one rank does. */
  public interface Program {
    /**
     * Runs to its end.
     *
     * @param ranks all ranks
     * @param host where rank 0 can be reached
     * @param out takes lines
     */
    void run(Ranks ranks, String host, Consumer<String> out) throws Exception;
  }

  private RankLauncher() {}

  /**
   * Runs the program and ends the process, if this is the process of a rank: because {@link
   * #processes} started it, or mpirun, srun, torchrun or a script did.
   */
  public static void runIfRank(Program program) {
    Optional<Placement> placement = Placement.ofEnvironment();
    if (placement.isEmpty() && System.getenv(STARTED) == null) {
      return;
    }
    int code = 0;
    try {
      if (placement.isEmpty()) {
        program.run(Ranks.threads(1).getFirst(), HERE, System.out::println);
      } else {
        try (Ranks ranks = Ranks.join(placement.get(), PATIENCE)) {
          program.run(ranks, placement.get().host(), System.out::println);
        }
      }
    } catch (Throwable e) {
      e.printStackTrace();
      code = 1;
    }
    System.exit(code); // whatever threads a library may have left
  }

  /**
   * Starts the program's processes, and waits until they have ended.
   *
   * @param size how many ranks
   * @param arguments of each
   * @return the lines that rank 0 printed
   * @throws IllegalStateException if one of them failed, which has said why
   */
  public static List<String> processes(int size, List<String> arguments) throws IOException, InterruptedException {
    byte[] random = new byte[16];
    new SecureRandom().nextBytes(random);
    String secret = HexFormat.of().formatHex(random);
    JoinOptions options = JoinOptions.defaults().withSecret(secret);
    List<Process> processes = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    try (RankServer server =
        RankServer.open(new InetSocketAddress(HERE, 0), size, options, PATIENCE, RankServer.Watch.PROCESSES)) {
      for (int each = 0; each < size; each++) {
        int rank = each;
        ProcessBuilder builder = new ProcessBuilder(command(arguments));
        Map<String, String> environment = builder.environment();
        environment.put(STARTED, "true");
        if (size > 1) {
          environment.putAll(Placement.of(rank, size, HERE, server.port()).environment());
          environment.put(JoinOptions.SECRET_VARIABLE, secret);
        }
        builder.redirectError(ProcessBuilder.Redirect.INHERIT);
        if (rank > 0) {
          builder.redirectOutput(ProcessBuilder.Redirect.INHERIT);
        }
        Process process = builder.start();
        processes.add(process);
        process
            .onExit()
            .thenAccept(
                ended -> {
                  if (ended.exitValue() != 0) {
                    server.lost(rank, "ended with exit code " + ended.exitValue());
                  }
                });
      }
      try (BufferedReader out = processes.getFirst().inputReader(StandardCharsets.UTF_8)) {
        for (String line = out.readLine(); line != null; line = out.readLine()) {
          lines.add(line);
        }
      }
      for (int rank = 0; rank < size; rank++) {
        Process process = processes.get(rank);
        if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
          throw new IllegalStateException("rank %d of %d does not end".formatted(rank, size));
        }
        if (process.exitValue() != 0) {
          throw new IllegalStateException(
              "rank %d of %d ended with exit code %d".formatted(rank, size, process.exitValue()));
        }
      }
      return lines;
    } finally {
      processes.forEach(Process::destroyForcibly);
    }
  }

  /**
   * Runs the ranks as threads of this process.
   *
   * @return the lines that rank 0 said
   */
  public static List<String> threads(int size, Program program) throws Exception {
    List<String> lines = new ArrayList<>();
    List<Future<?>> ends = new ArrayList<>();
    try (var threads = Executors.newFixedThreadPool(size)) {
      for (Ranks each : Ranks.threads(size)) {
        ends.add(
            threads.submit(
                () -> {
                  try (each) {
                    program.run(each, HERE, each.rank() == 0 ? lines::add : System.out::println);
                  } catch (Throwable e) {
                    each.fail(e.toString());
                    throw e;
                  }
                  return null;
                }));
      }
    }
    try {
      for (Future<?> end : ends) {
        end.get();
      }
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
    return lines;
  }

  /** This Java with its options and this program's source, as it was started itself. */
  private static List<String> command(List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (!option.equals("--add-modules=ALL-DEFAULT")) { // what running from a source adds
        command.add(option);
      }
    }
    String classPath = System.getProperty("java.class.path", "");
    if (!classPath.isEmpty()) {
      command.addAll(List.of("-cp", classPath));
    }
    command.add(System.getProperty("jdk.launcher.sourcefile"));
    command.addAll(arguments);
    return command;
  }
}
