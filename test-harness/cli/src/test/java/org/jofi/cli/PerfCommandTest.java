package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jofi.cli.ranks.Placement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code jofi perf}, as a user starts it. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class PerfCommandTest {
  @TempDir private Path folder;

  private CommandProcess.Outcome run(String... arguments) throws IOException, InterruptedException {
    return CommandProcess.run(folder, Map.of(), arguments);
  }

  private static JsonObject document(CommandProcess.Outcome outcome) {
    assertEquals(0, outcome.code(), outcome.err());
    return JsonParser.parseString(outcome.out()).getAsJsonObject();
  }

  private static String[] small(String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of("perf", "-b", "1", "-e", "64K", "-f", "256", "-n", "20", "-w", "3"));
    // Between processes it would take more than the rest.
    arguments.add("--prepare=0.1");
    arguments.addAll(List.of(more));
    return arguments.toArray(String[]::new);
  }

  private static void assertRight(String text) {
    JsonObject document = JsonParser.parseString(text).getAsJsonObject();
    assertEquals(0, document.get("errors").getAsLong(), text);
    JsonArray results = document.getAsJsonArray("results");
    assertEquals(3, results.size(), text);
    for (JsonElement element : results) {
      JsonObject result = element.getAsJsonObject();
      double p50 = result.get("latencyP50Nanos").getAsDouble();
      assertTrue(p50 > 0, text);
      assertTrue(result.get("latencyP99Nanos").getAsDouble() >= p50, text);
      double messages = result.get("messagesPerSecond").getAsDouble();
      assertTrue(messages > 0, text);
      assertEquals(
          result.get("bytes").getAsLong() * messages,
          result.get("bytesPerSecond").getAsDouble(),
          1e-6 * messages * result.get("bytes").getAsLong());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--rails=1,--window=8",
    "--bidirectional,--rails=4",
    "--provider=shm,--window=1",
    "--progress-threads=always,--window=8"
  })
  void measuresBetweenProcesses(String one, String other) throws Exception {
    CommandProcess.Outcome outcome = run(small("--json", one, other));
    assertEquals("", outcome.err());
    assertEquals(0, outcome.code());
    assertRight(outcome.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void measuresBetweenThreadsOfASimulatedFabric(String profile) throws Exception {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(small("--json", "--rails", "2", "-p", "sim:" + profile));
    assertEquals(0, outcome.code(), outcome.err());
    assertRight(outcome.out());
  }

  @ParameterizedTest
  @CsvSource({
    "write, sim:efa",
    "write, sim:cxi-client-key",
    "read, sim:cxi",
    "read, sim:tcp",
    "flush, sim:cxi",
    "flush, sim:efa"
  })
  void measuresWhatOnlyOneSideAsksFor(String operation, String provider) throws Exception {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(
            small("--json", "--rails", "2", "--bidirectional", "--op", operation, "-p", provider));
    assertEquals(0, outcome.code(), outcome.err());
    assertRight(outcome.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"write", "read", "flush"})
  void measuresItBetweenProcesses(String operation) throws Exception {
    CommandProcess.Outcome outcome = run(small("--json", "--op", operation));
    assertEquals("", outcome.err());
    assertEquals(0, outcome.code());
    assertRight(outcome.out());
  }

  @Test
  void printsATable() throws Exception {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(small("-p", "sim:efa", "--bidirectional"));
    assertEquals(0, outcome.code(), outcome.err());
    List<String> lines = outcome.out().lines().toList();
    assertTrue(
        lines.getFirst().startsWith("send, bidirectional, window 8; simulated-efa device efa0"));
    assertTrue(
        lines.get(2).matches(" +SIZE +COUNT +P50 us +P99 us +P99.9 us +GB/s +MSG/s +ERRORS"));
    assertTrue(lines.get(3).matches(" +1 B +20( +[0-9.]+){4} +[0-9]+ +0"), outcome.out());
    assertTrue(lines.getLast().matches(" +64 KiB +20 .* 0"), outcome.out());
  }

  @Test
  void saysHowLongItPreparedItself() throws Exception {
    CommandProcess.Outcome outcome = run("perf", "-b8", "-e8", "-n20", "--prepare=0.2");
    assertEquals(0, outcome.code(), outcome.err());
    outcome.assertSaysThatItPrepared();
    JsonObject document = document(run("perf", "-b8", "-e64K", "-n20", "--prepare=0.2", "--json"));
    assertTrue(document.get("preparationRounds").getAsLong() > 0, document.toString());
    assertTrue(document.get("preparationNanos").getAsLong() > 0, document.toString());
  }

  @Test
  void preparesNothingIfToldSoOrOnASimulatedFabric() throws Exception {
    JsonObject document = document(run("perf", "-b8", "-e8", "-n20", "--prepare=0", "--json"));
    assertEquals(0, document.get("preparationRounds").getAsLong(), document.toString());
    document =
        document(CommandProcess.runHere("perf", "-b8", "-e8", "-n20", "--json", "-p", "sim:efa"));
    assertEquals(0, document.get("preparationRounds").getAsLong(), document.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "61", "NaN"})
  void refusesATimeToPrepareThatIsNone(String seconds) {
    CommandProcess.Outcome outcome = CommandProcess.runHere("perf", "--prepare=" + seconds);
    assertEquals(2, outcome.code());
    assertTrue(outcome.err().contains("--prepare must be 0 to 60"), outcome.err());
  }

  private Process start(String name, String... arguments) throws IOException {
    return CommandProcess.builder(Map.of(), arguments)
        .redirectOutput(folder.resolve(name + ".out").toFile())
        .redirectError(folder.resolve(name + ".err").toFile())
        .start();
  }

  private String said(String file) throws IOException {
    return Files.readString(folder.resolve(file));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  @Test
  void eachSideByItself() throws Exception {
    int port = freePort();
    Process listens = start("listen", small("--listen", "--port", "" + port, "--json"));
    Process connects = start("connect", small("--connect", "127.0.0.1:" + port, "--json"));
    assertTrue(listens.waitFor(150, TimeUnit.SECONDS), "it hangs");
    assertTrue(connects.waitFor(150, TimeUnit.SECONDS), "it hangs");
    assertEquals(0, connects.exitValue(), said("connect.err"));
    assertEquals(0, listens.exitValue(), said("listen.err"));
    assertRight(said("connect.out"));
    assertRight(said("listen.out"));
    assertEquals(
        JsonParser.parseString(said("connect.out")).getAsJsonObject().get("results"),
        JsonParser.parseString(said("listen.out")).getAsJsonObject().get("results"));
  }

  @Test
  void twoThatWereStartedOtherwiseSayHow() throws Exception {
    int port = freePort();
    Process listens = start("listen", small("--listen", "--port", "" + port));
    Process connects =
        start("connect", small("--connect", "127.0.0.1:" + port, "--window", "3", "--op", "write"));
    assertTrue(listens.waitFor(150, TimeUnit.SECONDS), "it hangs");
    assertTrue(connects.waitFor(150, TimeUnit.SECONDS), "it hangs");
    assertEquals(ExitCode.FAILED, connects.exitValue());
    assertEquals(ExitCode.FAILED, listens.exitValue());
    for (String side : List.of("connect.err", "listen.err")) {
      String said = said(side);
      assertTrue(said.contains("--window is "), said);
      assertTrue(said.contains("--op is "), said);
      assertFalse(said.contains("\tat "), said);
    }
  }

  @Test
  void nobodyThereIsSaidInTime() throws Exception {
    CommandProcess.Outcome outcome =
        run("perf", "--connect", "127.0.0.1:" + freePort(), "--timeout", "1");
    assertEquals(ExitCode.FAILED, outcome.code());
    assertTrue(outcome.err().contains("found nobody at 127.0.0.1:"), outcome.err());
    assertTrue(outcome.err().contains("start jofi perf --listen there first"), outcome.err());
    outcome = run("perf", "--listen", "--port", "" + freePort(), "--timeout", "1");
    assertEquals(ExitCode.FAILED, outcome.code());
    assertTrue(outcome.err().startsWith("listening at port "), outcome.err());
    assertTrue(outcome.err().contains("the other side (jofi perf --connect HOST) "), outcome.err());
    assertFalse(outcome.err().contains("Exception"), outcome.err());
  }

  @Test
  void aPortInUseIsToldBeforeItListens() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      CommandProcess.Outcome outcome = run("perf", "--listen", "--port", "" + taken.getLocalPort());
      assertEquals(ExitCode.FAILED, outcome.code());
      assertTrue(
          outcome.err().startsWith("jofi: cannot listen at port " + taken.getLocalPort()),
          outcome.err());
      assertTrue(outcome.err().contains("--port"), outcome.err());
    }
  }

  @Test
  void withoutLibfabricTheListeningSideSaysWhatIsMissing() throws Exception {
    assumeTrue(
        System.getProperty("jofi.libfabric", "").isEmpty(),
        "the library under test is named by a property, which comes first");
    CommandProcess.Outcome outcome =
        CommandProcess.run(
            folder, CommandProcess.withoutLibfabric(folder), "perf", "--listen", "--timeout", "1");
    assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("apt-get install"), outcome.err());
    assertFalse(outcome.err().contains("listening"), outcome.err());
  }

  @ParameterizedTest
  @CsvSource({
    "node1, node1, 47601",
    "node1:5, node1, 5",
    "::1, ::1, 47601",
    "[::1], ::1, 47601",
    "[fe80::2]:7, fe80::2, 7"
  })
  void takesHostsWithAndWithoutPorts(String text, String host, int port) {
    assertEquals(
        new Placement(0, 2, host, port, "--connect"),
        RankOptions.placement(0, 2, text, "--connect"));
  }

  @Test
  void aBadPortIsBlamedOnItsOption() {
    CommandProcess.Outcome outcome = CommandProcess.runHere("perf", "--listen", "--port", "70000");
    assertEquals(ExitCode.USAGE, outcome.code());
    assertTrue(outcome.err().startsWith("--port must be 1 to 65535"), outcome.err());
    outcome = CommandProcess.runHere("perf", "--port", "5000");
    assertTrue(outcome.err().contains("no effect"), outcome.err());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--listen --connect h",
        "--op dance",
        "-b 0",
        "-n 0",
        "-w -1",
        "--rails 0",
        "--progress-threads some",
        "--port 5",
        "--connect [::1",
        "--connect [::1]:",
        "--window 65",
        "-b 8 -e 4",
        "--connect h:x",
        "--listen -p sim:efa"
      })
  void wrongUsageIsToldBeforeAnythingStarts(String arguments) throws Exception {
    CommandProcess.Outcome outcome = CommandProcess.runHere(("perf " + arguments).split(" "));
    assertEquals(ExitCode.USAGE, outcome.code(), outcome.err());
    assertEquals("", outcome.out());
    assertFalse(outcome.err().contains("\tat "), outcome.err());
  }
}
