package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jofi.ranks.Placement;
import org.junit.jupiter.api.Tag;
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

  @Test
  void measuresBetweenProcesses() throws Exception {
    assertMeasuresBetweenProcesses("--bidirectional", "--provider=shm");
  }

  @ParameterizedTest
  @CsvSource({"--rails=4,--window=8", "--op=write,--window=1", "--op=read,--provider=tcp;ofi_rxm"})
  @Tag("long")
  void measuresOtherThingsBetweenProcesses(String one, String other) throws Exception {
    assertMeasuresBetweenProcesses(one, other);
  }

  private void assertMeasuresBetweenProcesses(String one, String other) throws Exception {
    CommandProcess.Outcome outcome = run(small("--json", one, other));
    assertEquals("", outcome.err());
    assertEquals(0, outcome.code());
    assertRight(outcome.out());
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertTrue(document.get("preparationRounds").getAsLong() > 0, outcome.out());
    assertTrue(document.get("preparationNanos").getAsLong() > 0, outcome.out());
  }

  @ParameterizedTest
  @CsvSource({
    "--rails=1,--window=8",
    "--bidirectional,--rails=4",
    "--provider=shm,--window=1",
    "--progress-threads=always,--window=8",
    "--op=write,--rails=2",
    "--op=read,--bidirectional",
    "--op=read,--provider=shm",
    "--op=flush,--window=8"
  })
  void measuresBetweenThreads(String one, String other) {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(small("--json", "--rank-threads", one, other));
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
  void saysHowLongItPreparedItself() {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere("perf", "-b8", "-e8", "-n20", "--prepare=0.2", "--rank-threads");
    assertEquals(0, outcome.code(), outcome.err());
    outcome.assertSaysThatItPrepared();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--prepare=0 --rank-threads", "-p sim:efa"})
  void preparesNothingIfToldSoOrOnASimulatedFabric(String how) {
    JsonObject document =
        document(CommandProcess.runHere(("perf -b8 -e8 -n20 --json " + how).split(" ")));
    assertEquals(0, document.get("preparationRounds").getAsLong(), document.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "61", "NaN"})
  void refusesATimeToPrepareThatIsNone(String seconds) {
    CommandProcess.Outcome outcome = CommandProcess.runHere("perf", "--prepare=" + seconds);
    assertEquals(2, outcome.code());
    assertTrue(outcome.err().contains("--prepare must be 0 to 60"), outcome.err());
  }

  /** Both sides at once in this process. */
  private static List<CommandProcess.Outcome> together(String[] listens, String[] connects)
      throws Exception {
    try (ExecutorService sides = Executors.newFixedThreadPool(2)) {
      List<Future<CommandProcess.Outcome>> running =
          List.of(
              sides.submit(() -> CommandProcess.runHere(listens)),
              sides.submit(() -> CommandProcess.runHere(connects)));
      return List.of(running.getFirst().get(), running.getLast().get());
    }
  }

  private static void assertSameResults(CommandProcess.Outcome one, CommandProcess.Outcome other) {
    assertRight(one.out());
    assertRight(other.out());
    assertEquals(document(one).get("results"), document(other).get("results"));
  }

  @Test
  void eachSideByItself() throws Exception {
    int port = Ports.free();
    List<CommandProcess.Outcome> sides =
        together(
            small("--listen", "--port", "" + port, "--json"),
            small("--connect", "127.0.0.1:" + port, "--json"));
    assertSameResults(sides.getFirst(), sides.getLast());
    assertEquals("listening at port %d\n".formatted(port), sides.getFirst().err());
    assertEquals("", sides.getLast().err());
  }

  /** As on two machines. */
  @Test
  @Tag("long")
  void eachSideIsAProcess() throws Exception {
    int port = Ports.free();
    Path folderOfOne = Files.createDirectories(folder.resolve("one"));
    try (ExecutorService sides = Executors.newFixedThreadPool(1)) {
      Future<CommandProcess.Outcome> listens =
          sides.submit(
              () ->
                  CommandProcess.run(
                      folderOfOne,
                      Map.of(),
                      small("--listen", "--port", "" + port, "--json", "-p", "net")));
      CommandProcess.Outcome connects =
          run(small("--connect", "127.0.0.1:" + port, "--json", "-p", "net"));
      assertSameResults(listens.get(), connects);
    }
  }

  @Test
  void twoThatWereStartedOtherwiseSayHow() throws Exception {
    int port = Ports.free();
    List<CommandProcess.Outcome> sides =
        together(
            small("--listen", "--port", "" + port),
            small("--connect", "127.0.0.1:" + port, "--window", "3", "--op", "write"));
    for (CommandProcess.Outcome side : sides) {
      assertEquals(ExitCode.FAILED, side.code());
      assertTrue(side.err().contains("--window is "), side.err());
      assertTrue(side.err().contains("--op is "), side.err());
      assertFalse(side.err().contains("\tat "), side.err());
    }
  }

  @Test
  void nobodyThereIsSaidInTime() throws Exception {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere("perf", "--connect", "127.0.0.1:" + Ports.free(), "--timeout", "1");
    assertEquals(ExitCode.FAILED, outcome.code());
    assertTrue(outcome.err().contains("found nobody at 127.0.0.1:"), outcome.err());
    assertTrue(outcome.err().contains("start jofi perf --listen there first"), outcome.err());
    outcome =
        CommandProcess.runHere("perf", "--listen", "--port", "" + Ports.free(), "--timeout=1");
    assertEquals(ExitCode.FAILED, outcome.code());
    assertTrue(outcome.err().startsWith("listening at port "), outcome.err());
    assertTrue(outcome.err().contains("the other side (jofi perf --connect HOST) "), outcome.err());
    assertFalse(outcome.err().contains("Exception"), outcome.err());
  }

  @Test
  void aPortInUseIsToldBeforeItListens() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      CommandProcess.Outcome outcome =
          CommandProcess.runHere("perf", "--listen", "--port", "" + taken.getLocalPort());
      assertEquals(ExitCode.FAILED, outcome.code());
      assertTrue(
          outcome.err().startsWith("jofi: cannot listen at port " + taken.getLocalPort()),
          outcome.err());
      assertTrue(outcome.err().contains("--port"), outcome.err());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "node1, node1, 17601",
    "node1:5, node1, 5",
    "::1, ::1, 17601",
    "[::1], ::1, 17601",
    "[fe80::2]:7, fe80::2, 7"
  })
  void takesHostsWithAndWithoutPorts(String text, String host, int port) {
    assertEquals(
        new Placement(0, 2, host, port, "--connect"), Placement.at(0, 2, text, "--connect"));
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
