package org.jofi.libfabric.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Starts both processes, relays lines between them, and waits for them, with a bound. */
final class TwoProcesses {
  static final String KILL_OTHER = "@kill-other";
  static final String LACK_MARK = "@lack ";

  private static final long BOUND_SECONDS = 120;
  private static final int KILLED = 128 + 9;

  private final String provider;
  private final Scenario scenario;
  private final StringBuilder log = new StringBuilder();
  private volatile long killedAt;

  TwoProcesses(String provider, Scenario scenario) {
    this.provider = provider;
    this.scenario = scenario;
  }

  /** Runs them. What the provider lacks, if it lacks what the scenario needs. */
  Optional<String> run() throws IOException, InterruptedException {
    Process first = start("first");
    Process second = start("second");
    try {
      Thread relayFirst = relay("first", first, second);
      Thread relaySecond = relay("second", second, first);
      int firstCode = await(first, "first");
      if (killedAt != 0) {
        long tookMillis = (System.nanoTime() - killedAt) / 1_000_000;
        note("test", "the first ended %d ms after the second was killed".formatted(tookMillis));
        if (tookMillis > 10_000) {
          throw new AssertionError("too late:\n" + log());
        }
      }
      if (firstCode != PeerMain.OK) {
        second.destroyForcibly();
      }
      int secondCode = await(second, "second");
      relayFirst.join(5_000);
      relaySecond.join(5_000);
      boolean secondAsExpected = killedAt != 0 ? secondCode == KILLED : secondCode == PeerMain.OK;
      boolean lacks = firstCode == PeerMain.LACK || secondCode == PeerMain.LACK;
      // A lack of one side excuses the other's failing to meet it, and no crash.
      if (lacks && harmless(firstCode) && harmless(secondCode)) {
        String text = log();
        int at = text.indexOf(LACK_MARK);
        return Optional.of(text.substring(at + LACK_MARK.length(), text.indexOf("\n", at)));
      }
      if (firstCode != PeerMain.OK || !secondAsExpected) {
        throw new AssertionError(
            "%s over %s: exit codes %d and %d:\n%s"
                .formatted(scenario, provider, firstCode, secondCode, log()));
      }
      return Optional.empty();
    } finally {
      first.destroyForcibly();
      second.destroyForcibly();
    }
  }

  private static boolean harmless(int code) {
    return code == PeerMain.OK || code == PeerMain.LACK || code == KILLED;
  }

  String log() {
    synchronized (log) {
      return log.toString();
    }
  }

  private int await(Process process, String name) throws InterruptedException {
    if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
      throw new AssertionError("the %s process hangs:\n%s".formatted(name, log()));
    }
    return process.exitValue();
  }

  private Process start(String side) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(java());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:+UseSerialGC");
    command.add("-Xmx256m");
    command.add("-XX:TieredStopAtLevel=1");
    String library = System.getProperty("jofi.libfabric", "");
    if (!library.isEmpty()) {
      command.add("-Djofi.libfabric=" + library);
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(PeerMain.class.getName(), provider, scenario.name(), side));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  static String java() {
    String java = System.getProperty("jofi.test.java", "");
    return java.isEmpty()
        ? Path.of(System.getProperty("java.home"), "bin", "java").toString()
        : java;
  }

  private Thread relay(String name, Process from, Process to) {
    return Thread.ofPlatform()
        .daemon()
        .name("relay-" + name)
        .start(
            () -> {
              try (BufferedReader in =
                      new BufferedReader(
                          new InputStreamReader(from.getInputStream(), StandardCharsets.UTF_8));
                  PrintStream out =
                      new PrintStream(to.getOutputStream(), true, StandardCharsets.UTF_8)) {
                String line;
                while ((line = in.readLine()) != null) {
                  handle(name, line, to, out);
                }
              } catch (IOException gone) {
                note(name, "gone: " + gone.getMessage());
              }
            });
  }

  private void handle(String name, String line, Process other, PrintStream out) {
    if (line.startsWith(Lines.MARK)) {
      out.println(line.substring(Lines.MARK.length()));
      return;
    }
    note(name, line);
    if (line.equals(KILL_OTHER)) {
      killedAt = System.nanoTime();
      other.destroyForcibly();
    }
  }

  private void note(String name, String line) {
    synchronized (log) {
      log.append(name).append(": ").append(line).append('\n');
    }
  }
}
