package org.jofi.processes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Two processes with this Java and class path. A line that one process prints after the prefix
 * {@link #TO_PEER} is passed to the other as input; all other output is kept for error messages. A
 * process asks that the other is killed by printing {@link #KILL_PEER}.
 */
public final class ProcessPair implements AutoCloseable {
  /**
   * The name of a resource for tests, the machine's processors: pairs that keep all of them busy
   * take it alone, and those that mostly wait, with bounds on how long, share it.
   */
  public static final String PROCESSORS = "processors";

  /** Prefix of a line for the other process. */
  public static final String TO_PEER = "> ";

  /** A line that asks that the other process is killed. */
  public static final String KILL_PEER = "@kill-peer";

  private static final int KILLED = 128 + 9;
  private static final Duration LAST_LINES = Duration.ofSeconds(5);

  private final List<String> lines = Collections.synchronizedList(new ArrayList<>());
  private final String what;
  private final Process first;
  private final Process second;
  private final List<Thread> relays;
  private volatile long killedAt;

  /** How the two compile what they run. */
  public enum Compilation {
    /** As any program does, for what runs long. */
    USUAL(4),

    /** Quickly, for what is over before more would pay. */
    QUICK(1);

    private final int highestTier;

    Compilation(int highestTier) {
      this.highestTier = highestTier;
    }
  }

  /**
   * Starts both with these arguments and a last one that says which of the two it is: first or
   * second.
   */
  public ProcessPair(Class<?> main, List<String> arguments) throws IOException {
    this(main, Compilation.USUAL, arguments);
  }

  /** The same, with a choice of how they compile. */
  public ProcessPair(Class<?> main, Compilation compilation, List<String> arguments)
      throws IOException {
    this(main, compilation, Map.of(), arguments);
  }

  /** The same, with variables beside those that they inherit. */
  public ProcessPair(
      Class<?> main,
      Compilation compilation,
      Map<String, String> environment,
      List<String> arguments)
      throws IOException {
    what = main.getSimpleName() + " " + arguments;
    first = start(main, compilation, environment, arguments, "first");
    second = start(main, compilation, environment, arguments, "second");
    relays = List.of(relay("first", first, second), relay("second", second, first));
  }

  private static Process start(
      Class<?> main,
      Compilation compilation,
      Map<String, String> environment,
      List<String> arguments,
      String side)
      throws IOException {
    List<String> command = new ArrayList<>();
    String java = System.getProperty("jofi.test.java", "");
    command.add(
        java.isEmpty() ? Path.of(System.getProperty("java.home"), "bin", "java").toString() : java);
    command.addAll(
        List.of(
            "-ea",
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED"));
    command.add("-XX:TieredStopAtLevel=" + compilation.highestTier);
    String library = System.getProperty("jofi.libfabric", "");
    if (!library.isEmpty()) {
      command.add("-Djofi.libfabric=" + library);
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(arguments);
    command.add(side);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    return builder.start();
  }

  private Thread relay(String name, Process from, Process to) {
    return Thread.ofPlatform()
        .daemon()
        .name("relay of the " + name)
        .start(
            () -> {
              try (BufferedReader in = from.inputReader(StandardCharsets.UTF_8);
                  PrintStream out =
                      new PrintStream(to.getOutputStream(), true, StandardCharsets.UTF_8)) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                  handle(name, line, to, out);
                }
              } catch (IOException gone) {
                lines.add(name + " is gone: " + gone.getMessage());
              }
            });
  }

  private void handle(String name, String line, Process to, PrintStream out) {
    if (line.startsWith(TO_PEER)) {
      out.println(line.substring(TO_PEER.length()));
      return;
    }
    lines.add(name + ": " + line);
    if (line.equals(KILL_PEER)) {
      killedAt = System.nanoTime();
      to.destroyForcibly();
    }
  }

  /**
   * Waits until both have ended with exit code 0, or the second was killed.
   *
   * @return how many ms the first ran on after the second was killed; 0 if it was not killed
   * @throws AssertionError with all lines, if one does not end in time or as expected
   */
  public long await(long boundSeconds) throws InterruptedException {
    demandEnd(first, "first", boundSeconds);
    boolean killed = killedAt != 0;
    long outlived = killed ? (System.nanoTime() - killedAt) / 1_000_000 : 0;
    demandEnd(second, "second", boundSeconds);
    for (Thread relay : relays) {
      relay.join(LAST_LINES);
    }
    demand(first.exitValue() == 0, "the first failed with " + first.exitValue());
    demand(
        second.exitValue() == (killed ? KILLED : 0),
        "the second failed with " + second.exitValue());
    return outlived;
  }

  /** Waits for a process to end. If it hangs, SIGQUIT makes its JVM print where its threads are. */
  private void demandEnd(Process process, String name, long boundSeconds)
      throws InterruptedException {
    if (process.waitFor(boundSeconds, TimeUnit.SECONDS)) {
      return;
    }
    try {
      new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).start().waitFor();
      process.waitFor(LAST_LINES.toSeconds(), TimeUnit.SECONDS);
    } catch (IOException e) {
      lines.add("no word from it: " + e.getMessage());
    }
    demand(false, "the " + name + " hangs");
  }

  private void demand(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(what + ": " + otherwise + ":\n" + log());
    }
  }

  /** Everything that they printed. */
  public String log() {
    synchronized (lines) {
      return String.join("\n", lines);
    }
  }

  /**
   * Ends both, and removes the files that they left in shared memory, because a later process may
   * get the same process id.
   */
  @Override
  public void close() {
    for (Process process : List.of(first, second)) {
      process.destroyForcibly().onExit().orTimeout(LAST_LINES.toSeconds(), TimeUnit.SECONDS).join();
      removeEndpoints(process.pid());
    }
  }

  /** The files of libfabric's shm provider: PID:user:endpoint. */
  private void removeEndpoints(long pid) {
    Path folder = Path.of("/dev/shm");
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (DirectoryStream<Path> left = Files.newDirectoryStream(folder, pid + ":*:*")) {
      for (Path file : left) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      lines.add("cannot remove what process %d left: %s".formatted(pid, e.getMessage()));
    }
  }
}
