package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jofi.cli.soak.MachineCommand;
import org.jofi.cli.soak.RailNetwork;

/**
 * {@code jofi perf} with messages of 4 MiB over real TCP rails between two network namespaces, in
 * which rank 0 listens and rank 1 connects; rank 0 sends. Every byte is checked.
 */
final class PerfOverRails implements AutoCloseable {
  /** More than a rail carries before the measured messages, and less than with them. */
  static final long IN_MID_RUN = 200_000_000;

  private static final int LEFT = 0;
  private static final int RIGHT = 1;

  /** Less is questions and answers. */
  private static final long CHUNK = 50_000;

  private static final long BOUND_SECONDS = 150;

  /** Words of a line of proc(5)'s net/dev, after the name. */
  private static final int RECEIVED = 1;

  private static final int SENT = 9;

  private final RailNetwork network;
  private final Path folder;
  private final List<Process> processes = new ArrayList<>();

  /** Rails of a gigabit per second each. */
  PerfOverRails(int rails, Path folder) {
    network = new RailNetwork(2, rails);
    this.folder = folder;
  }

  RailNetwork network() {
    return network;
  }

  /** A rail has so small a part of its rate, in both directions. */
  void slow(int rail, int part) {
    network.slow(LEFT, rail, part);
    network.slow(RIGHT, rail, part);
  }

  /** Whatever is sent over a rail is lost, and nobody is told. */
  void swallow(int rail) {
    network.swallow(LEFT, rail);
    network.swallow(RIGHT, rail);
  }

  /** Some of what is sent over a rail is lost, in both directions. */
  void lose(int rail, int percent) {
    network.lose(LEFT, rail, percent);
    network.lose(RIGHT, rail, percent);
  }

  /** A rail is sound again. */
  void mend(int rail) {
    network.mend(LEFT, rail);
    network.mend(RIGHT, rail);
  }

  /** Both ranks begin. */
  void start(int messages, String... more) throws IOException {
    processes.add(begin(LEFT, messages, List.of("--listen"), more));
    processes.add(begin(RIGHT, messages, List.of("--connect", network.controlAddress(LEFT)), more));
  }

  private Process begin(int rank, int messages, List<String> meeting, String... more)
      throws IOException {
    List<String> arguments = new ArrayList<>(List.of("perf", "-p", "net", "-d", network.device()));
    arguments.addAll(List.of("-b", "4M", "-e", "4M", "--window", "4", "--prepare=0.5", "--json"));
    arguments.addAll(List.of("-n", Integer.toString(messages)));
    arguments.addAll(meeting);
    arguments.addAll(List.of(more));
    ProcessBuilder builder = CommandProcess.builder(Map.of(), arguments.toArray(String[]::new));
    List<String> command = new ArrayList<>(network.moving(rank));
    command.addAll(builder.command());
    return builder
        .command(command)
        .redirectOutput(out(rank).toFile())
        .redirectError(err(rank).toFile())
        .start();
  }

  /** A rank's process. */
  Process process(int rank) {
    return processes.get(rank);
  }

  private Path out(int rank) {
    return folder.resolve("rank-%d.out".formatted(rank));
  }

  private Path err(int rank) {
    return folder.resolve("rank-%d.err".formatted(rank));
  }

  /** What both said on standard error. */
  String errors() throws IOException {
    return Files.readString(err(LEFT)) + Files.readString(err(RIGHT));
  }

  /** What a rank that is over printed. */
  JsonObject document(int rank) throws IOException {
    return JsonParser.parseString(Files.readString(out(rank))).getAsJsonObject();
  }

  /** The row that a rank that is over printed. */
  JsonObject row(int rank) throws IOException {
    return document(rank).getAsJsonArray("results").get(0).getAsJsonObject();
  }

  boolean isAlive() {
    return processes.stream().allMatch(Process::isAlive);
  }

  /** Waits until the messages that are measured are under way. */
  void awaitMidRun(int rail) throws Exception {
    while (carried(rail) < IN_MID_RUN) {
      demandLife();
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /** Waits until a rank says that. */
  void awaitWords(String words) throws Exception {
    while (!errors().contains(words)) {
      demandLife();
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /** Lets them run for a while. */
  void run(long millis) throws Exception {
    TimeUnit.MILLISECONDS.sleep(millis);
    demandLife();
  }

  private void demandLife() throws IOException {
    if (!isAlive()) {
      throw new AssertionError("it ended early: " + errors());
    }
  }

  /** Until they are over. Gigabits per second that arrived. */
  double measured() throws Exception {
    for (Process process : processes) {
      if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError("it hangs: " + whatIsKnown());
      }
    }
    for (Process process : processes) {
      assertEquals(0, process.exitValue(), errors());
    }
    JsonObject document = document(RIGHT);
    assertEquals(0, document.get("errors").getAsLong(), document.toString());
    return row(RIGHT).get("bytesPerSecond").getAsDouble() * 8 / 1e9;
  }

  /** Who is over, what both said, and where threads of those that are not are. */
  private String whatIsKnown() throws Exception {
    StringBuilder known = new StringBuilder();
    for (int rank = 0; rank < processes.size(); rank++) {
      Process process = processes.get(rank);
      known.append("rank %d: ".formatted(rank));
      if (process.isAlive()) {
        String before = Files.readString(out(rank));
        // Makes a JVM print it.
        MachineCommand.run("kill -QUIT " + process.pid());
        TimeUnit.SECONDS.sleep(1);
        known.append("runs%n%s%n".formatted(before));
        Stream.of(Files.readString(out(rank)).split("\n\n", -1))
            .filter(thread -> thread.startsWith("\"") && thread.contains("at org.jofi."))
            .forEach(thread -> known.append(thread).append('\n'));
      } else {
        known.append("ended with %d%n".formatted(process.exitValue()));
      }
    }
    return known.append(errors()).toString();
  }

  /** For how long a sound rail carried nothing, until a process ends; in ms. */
  long longestPause(int soundRail) throws Exception {
    long longest = 0;
    long last = System.nanoTime();
    long carried = carried(soundRail);
    while (isAlive()) {
      TimeUnit.MILLISECONDS.sleep(5);
      long now = carried(soundRail);
      if (now - carried > CHUNK) {
        carried = now;
        longest = Math.max(longest, System.nanoTime() - last);
        last = System.nanoTime();
      }
    }
    return longest / 1_000_000;
  }

  /** Bytes that a rail carried until now, in both directions; 0 before the process is there. */
  long carried(int rail) {
    return counters().stream()
        .filter(words -> words[0].equals("rail%d:".formatted(rail)))
        .mapToLong(words -> Long.parseLong(words[RECEIVED]) + Long.parseLong(words[SENT]))
        .sum();
  }

  /**
   * What the kernel counts of the interfaces in the left namespace: as its process sees them, since
   * to start another one for each look takes more of the processors than the ranks.
   */
  private List<String[]> counters() {
    List<String> lines;
    try {
      lines = Files.readAllLines(Path.of("/proc/%d/net/dev".formatted(process(LEFT).pid())));
    } catch (IOException over) {
      lines =
          MachineCommand.run(String.join(" ", network.moving(LEFT)) + " cat /proc/net/dev")
              .lines()
              .toList();
    }
    return lines.stream().map(line -> line.strip().split("[ ]+", -1)).toList();
  }

  @Override
  public void close() {
    for (Process process : processes) {
      process.destroyForcibly();
    }
    network.close();
  }
}
