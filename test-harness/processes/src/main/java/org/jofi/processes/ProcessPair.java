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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * Two processes with this Java and class path. A line that one process prints after the prefix
 * {@link #TO_PEER} is passed to the other as input; all other output is kept for error messages.
 * The first process asks that the second is killed by printing {@link #KILL_PEER}, and afterwards
 * for another second one by printing {@link #NEW_PEER}.
 */
public final class ProcessPair implements AutoCloseable {
  /** Prefix of a line for the other process. */
  public static final String TO_PEER = "> ";

  /** A line that asks that the second process is killed. */
  public static final String KILL_PEER = "@kill-peer";

  /** A line that asks for a second process in place of the one that was killed. */
  public static final String NEW_PEER = "@new-peer";

  private static final int KILLED = 128 + 9;
  private static final Duration LAST_LINES = Duration.ofSeconds(5);

  private final List<String> lines = Collections.synchronizedList(new ArrayList<>());
  private final String what;
  private final List<String> command;
  private final Map<String, String> environment;
  private final Process first;
  private final Thread relayOfFirst;

  /** All that there were: each but the last one was killed. */
  private final List<Process> seconds = new CopyOnWriteArrayList<>();

  private volatile Thread relayOfSecond;
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
    this.environment = Map.copyOf(environment);
    command = command(main, compilation, arguments);
    first = start("first");
    seconds.add(start("second"));
    relayOfFirst = Thread.ofPlatform().daemon().name("relay of the first").start(this::relayFirst);
    relayOfSecond = relaySecond(seconds.getLast());
  }

  private static List<String> command(
      Class<?> main, Compilation compilation, List<String> arguments) {
    List<String> command = new ArrayList<>();
    String java = System.getProperty("jofi.test.java", "");
    command.add(
        java.isEmpty() ? Path.of(System.getProperty("java.home"), "bin", "java").toString() : java);
    command.addAll(
        List.of(
            "-ea",
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-XX:+UseTransparentHugePages",
            "--enable-native-access=ALL-UNNAMED"));
    command.add("-XX:TieredStopAtLevel=" + compilation.highestTier);
    String library = System.getProperty("jofi.libfabric", "");
    if (!library.isEmpty()) {
      command.add("-Djofi.libfabric=" + library);
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(arguments);
    return command;
  }

  private Process start(String side) throws IOException {
    List<String> sided = new ArrayList<>(command);
    sided.add(side);
    ProcessBuilder builder = new ProcessBuilder(sided).redirectErrorStream(true);
    builder.environment().putAll(environment);
    return builder.start();
  }

  private static PrintStream inputOf(Process process) {
    return new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  private void relayFirst() {
    PrintStream toSecond = inputOf(seconds.getLast());
    try (BufferedReader in = first.inputReader(StandardCharsets.UTF_8)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith(TO_PEER)) {
          toSecond.println(line.substring(TO_PEER.length()));
          continue;
        }
        lines.add("first: " + line);
        if (line.equals(KILL_PEER)) {
          killedAt = System.nanoTime();
          seconds.getLast().destroyForcibly();
        } else if (line.equals(NEW_PEER)) {
          Process next = start("second");
          toSecond = inputOf(next);
          seconds.add(next);
          killedAt = 0;
          relayOfSecond = relaySecond(next);
        }
      }
    } catch (IOException gone) {
      lines.add("first is gone: " + gone.getMessage());
    }
    toSecond.close();
  }

  private Thread relaySecond(Process second) {
    return Thread.ofPlatform()
        .daemon()
        .name("relay of the second")
        .start(
            () -> {
              PrintStream toFirst = inputOf(first);
              try (BufferedReader in = second.inputReader(StandardCharsets.UTF_8)) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                  if (line.startsWith(TO_PEER)) {
                    toFirst.println(line.substring(TO_PEER.length()));
                  } else {
                    lines.add("second: " + line);
                  }
                }
              } catch (IOException gone) {
                lines.add("second is gone: " + gone.getMessage());
              }
              if (killedAt == 0 && second.equals(seconds.getLast())) {
                // Nobody speaks to the first any more.
                toFirst.close();
              }
            });
  }

  /**
   * Waits until both have ended with exit code 0, or the second was killed.
   *
   * @return how many ms the first ran on after the last second one was killed; 0 if it was not
   * @throws AssertionError with all lines, if one does not end in time or as expected
   */
  public long await(long boundSeconds) throws InterruptedException {
    demandEnd(first, "first", boundSeconds);
    long end = System.nanoTime();
    // It may still have to read what the first said last.
    relayOfFirst.join(LAST_LINES);
    boolean killed = killedAt != 0;
    long outlived = killed ? (end - killedAt) / 1_000_000 : 0;
    Process second = seconds.getLast();
    demandEnd(second, "second", boundSeconds);
    relayOfSecond.join(LAST_LINES);
    demand(first.exitValue() == 0, "the first failed with " + first.exitValue());
    for (Process each : seconds) {
      demandEnd(each, "killed", boundSeconds);
      int expected = !each.equals(second) || killed ? KILLED : 0;
      demand(each.exitValue() == expected, "the second failed with " + each.exitValue());
    }
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
    List<Process> all = new ArrayList<>(seconds);
    all.add(first);
    for (Process process : all) {
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
