package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code jofi allreduce}, as a user starts it. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class AllReduceCommandTest {
  /** One element, fewer than ranks, odd, several chunks. */
  private static final String SIZES = "4,12,4004,256K";

  @TempDir private Path folder;

  private CommandProcess.Outcome run(String... arguments) throws IOException, InterruptedException {
    return CommandProcess.run(folder, Map.of(), arguments);
  }

  @Test
  void saysHowLongItPreparedItself() throws Exception {
    CommandProcess.Outcome outcome = run("allreduce", "-s", "4,256K", "-k2", "--prepare=0.2");
    assertEquals(0, outcome.code(), outcome.err());
    outcome.assertSaysThatItPrepared();
    outcome = run("allreduce", "-s4", "-k2", "--prepare=0", "--json");
    assertEquals(0, outcome.code(), outcome.err());
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertEquals(0, document.get("preparationRounds").getAsLong(), outcome.out());
  }

  private static void assertRight(CommandProcess.Outcome outcome, int ranks, int rails) {
    assertEquals(0, outcome.code(), outcome.err());
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertEquals(ranks, document.get("ranks").getAsInt());
    assertEquals(rails, document.getAsJsonArray("rails").size(), outcome.out());
    assertEquals(0, document.get("errors").getAsLong(), outcome.out());
    JsonArray results = document.getAsJsonArray("results");
    assertEquals(4, results.size());
    for (int i = 0; i < 4; i++) {
      JsonObject result = results.get(i).getAsJsonObject();
      assertEquals(List.of(4, 12, 4004, 262144).get(i), result.get("bytes").getAsInt());
      assertEquals(2, result.get("iterations").getAsInt());
      assertTrue(result.get("bestNanos").getAsLong() > 0, outcome.out());
    }
  }

  @ParameterizedTest
  @CsvSource({"'', 2, 1", "tcp;ofi_rxm, 2, 2", "shm, 2, 2"})
  void sumsOverProcesses(String provider, int ranks, int rails) throws Exception {
    assertSums(provider, ranks, rails, "0");
  }

  /** Lengths below and above what may leave before its receive is announced. */
  @ParameterizedTest
  @CsvSource({"'', 2, 2", "tcp;ofi_rxm, 2, 1", "shm, 2, 1"})
  void sumsWithEagerMessages(String provider, int ranks, int rails) throws Exception {
    assertSums(provider, ranks, rails, "4K");
  }

  @ParameterizedTest
  @CsvSource({"'', 1, 1", "shm, 1, 2", "'', 4, 4", "shm, 4, 1"})
  @Tag("long")
  void sumsOverFewerAndMoreProcesses(String provider, int ranks, int rails) throws Exception {
    assertSums(provider, ranks, rails, "0");
  }

  private void assertSums(String provider, int ranks, int rails, String eager) throws Exception {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "allreduce",
                "--json",
                "-s",
                SIZES,
                "-k",
                "2",
                "-w",
                "1",
                "--chunk",
                "16K",
                "--ranks",
                Integer.toString(ranks),
                "--prepare",
                "0.1",
                "--eager",
                eager,
                "--rails",
                Integer.toString(rails)));
    if (!provider.isEmpty()) {
      arguments.addAll(List.of("--provider", provider));
    }
    CommandProcess.Outcome outcome = run(arguments.toArray(String[]::new));
    assertEquals("", outcome.err());
    assertRight(outcome, ranks, rails);
  }

  @ParameterizedTest
  @CsvSource({"efa, 3, 2", "cxi, 2, 4", "cxi-client-key, 4, 1", "tcp, 2, 2"})
  void sumsOverThreadsOfASimulatedFabric(String profile, int ranks, int rails) throws Exception {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(
            "allreduce",
            "--json",
            "-s",
            SIZES,
            "-k",
            "2",
            "-w",
            "1",
            "--chunk",
            "16K",
            "--ranks",
            Integer.toString(ranks),
            "--rails",
            Integer.toString(rails),
            "--provider",
            "sim:" + profile);
    assertRight(outcome, ranks, rails);
    assertTrue(outcome.err().contains("simulated fabric, profile " + profile), outcome.err());
  }

  @Test
  void printsATable() throws Exception {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(
            "allreduce", "-p", "sim:efa", "-b", "4", "-e", "64", "-f", "16", "-k", "3");
    assertEquals(0, outcome.code(), outcome.err());
    List<String> lines = outcome.out().lines().toList();
    assertTrue(lines.getFirst().startsWith("all-reduce, sum of float32, 2 rank(s); simulated-efa"));
    assertTrue(
        lines.get(2).matches(" +SIZE +COUNT +ALGORITHM +ROUNDS +TIME us .* ERRORS"), outcome.out());
    assertTrue(
        lines.get(3).matches(" +4 B +1 +doubling +3 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +0"));
    assertTrue(lines.get(4).matches(" +64 B +16 +doubling +3 .* 0"), outcome.out());
    assertEquals("every element of every round was the exact sum", lines.getLast());
  }

  @Test
  void oneRankHasTheSumAlready() throws Exception {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere("allreduce", "-n", "1", "-p", "sim:cxi", "-s", "4K");
    assertEquals(0, outcome.code(), outcome.err());
  }

  @Test
  void withoutLibfabricItSaysSoAndSimulates() throws Exception {
    assumeTrue(
        System.getProperty("jofi.libfabric", "").isEmpty(),
        "the library under test is named by a property, which comes first");
    Map<String, String> absent = CommandProcess.withoutLibfabric(folder);
    CommandProcess.Outcome outcome =
        CommandProcess.run(folder, absent, "allreduce", "-s", "4K", "-k", "1");
    assertEquals(0, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("libfabric could not be loaded"), outcome.err());
    assertTrue(outcome.err().contains("Going on with the simulated fabric"), outcome.err());
    outcome = CommandProcess.run(folder, absent, "allreduce", "-p", "shm", "-s", "4K", "-k", "1");
    assertEquals(
        ExitCode.ENVIRONMENT, outcome.code(), "a provider that was asked for is not replaced");
    assertFalse(outcome.err().contains("\tat "), outcome.err());
  }

  @Test
  void aLibraryThatIsNamedAndDoesNotLoadIsNotReplaced() throws Exception {
    assumeTrue(
        System.getProperty("jofi.libfabric", "").isEmpty(),
        "the library under test is named by a property, which comes first");
    CommandProcess.Outcome outcome =
        CommandProcess.run(
            folder,
            Map.of("JOFI_LIBFABRIC", "/absent/libfabric.so.1"),
            "allreduce",
            "-s",
            "4K",
            "-k",
            "1");
    assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("/absent/libfabric.so.1: no such file"), outcome.err());
    assertFalse(outcome.err().contains("\tat "), outcome.err());
  }

  @Test
  void aPlacedRankWithoutLibfabricSaysWhatIsMissing() throws Exception {
    assumeTrue(
        System.getProperty("jofi.libfabric", "").isEmpty(),
        "the library under test is named by a property, which comes first");
    Map<String, String> environment = new HashMap<>(CommandProcess.withoutLibfabric(folder));
    environment.putAll(Map.of("RANK", "0", "WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1"));
    CommandProcess.Outcome outcome =
        CommandProcess.run(folder, environment, "allreduce", "--ranks", "4");
    assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("apt-get install"), outcome.err());
    assertTrue(
        outcome
            .err()
            .startsWith(
                "placed by torchrun (RANK, WORLD_SIZE) as rank 0 of 2; unset them to start ranks"
                    + " here; --ranks 4 is ignored"),
        outcome.err());
  }

  @Test
  void moreMemoryThanThereIsIsRefusedInOneLine() {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere("allreduce", "-n", "3", "-s", "4T", "-p", "sim:efa");
    assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
    assertTrue(
        outcome.err().contains("3 rank(s) here need 4096.0 GiB each, 12288.0 GiB together"),
        outcome.err());
    assertEquals(1, outcome.err().lines().count(), outcome.err());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-s 6",
        "-s 4 -b 8",
        "-n 0",
        "--rails 0",
        "--rails 9",
        "--eager 64K",
        "-k 0",
        "-w -1",
        "--window 0",
        "--chunk 6",
        "--memory disk",
        "-p sim:nosuch",
        "--timeout 0",
        "-k -1"
      })
  void wrongUsageIsToldBeforeAnythingStarts(String arguments) throws Exception {
    CommandProcess.Outcome outcome = CommandProcess.runHere(("allreduce " + arguments).split(" "));
    assertEquals(ExitCode.USAGE, outcome.code(), outcome.err());
    assertEquals("", outcome.out());
    assertFalse(outcome.err().contains("\tat "), outcome.err());
  }

  @Test
  void anUnknownProviderIsNamedByEachRank() throws Exception {
    CommandProcess.Outcome outcome = run("allreduce", "-p", "nosuch", "-s", "4");
    assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("'nosuch'"), outcome.err());
    assertFalse(outcome.err().contains("\tat "), outcome.err());
  }

  @Test
  void takesItsPlaceFromMpirun() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }
    List<Process> ranks = new ArrayList<>();
    for (int rank = 0; rank < 3; rank++) {
      ranks.add(
          CommandProcess.builder(
                  Map.of(
                      "OMPI_COMM_WORLD_RANK",
                      Integer.toString(rank),
                      "OMPI_COMM_WORLD_SIZE",
                      "3",
                      "OMPI_COMM_WORLD_LOCAL_SIZE",
                      "3",
                      "MASTER_PORT",
                      Integer.toString(port)),
                  "allreduce",
                  "--json",
                  "-s",
                  SIZES,
                  "-k",
                  "2",
                  "-w",
                  "1")
              .redirectOutput(folder.resolve("out" + rank).toFile())
              .redirectError(folder.resolve("err" + rank).toFile())
              .start());
    }
    for (int rank = 0; rank < 3; rank++) {
      assertTrue(ranks.get(rank).waitFor(150, TimeUnit.SECONDS), "rank " + rank + " hangs");
      assertEquals(
          rank > 0
              ? ""
              : "placed by Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE) as rank 0 of 3;"
                  + " unset them to start ranks here\n",
          Files.readString(folder.resolve("err" + rank)));
      assertEquals(0, ranks.get(rank).exitValue());
    }
    String printed = Files.readString(folder.resolve("out0"));
    assertRight(new CommandProcess.Outcome(0, printed, ""), 3, 1);
    assertEquals("", Files.readString(folder.resolve("out1")));
  }

  /** A run of more rounds than anybody waits for. */
  private static final class LongRun implements AutoCloseable {
    final Process parent;
    final BufferedReader out;
    final CompletableFuture<String> err;

    LongRun(String... more) throws IOException {
      List<String> arguments =
          new ArrayList<>(List.of("allreduce", "-n", "3", "-s", "8M", "-k", "1000000"));
      arguments.addAll(List.of(more));
      parent = CommandProcess.builder(Map.of(), arguments.toArray(String[]::new)).start();
      out =
          new BufferedReader(
              new InputStreamReader(parent.getInputStream(), StandardCharsets.UTF_8));
      err =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return new String(parent.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
                } catch (IOException e) {
                  return "unreadable: " + e;
                }
              });
    }

    List<ProcessHandle> ranksThatRun() throws IOException {
      String line = out.readLine();
      while (line != null && !line.contains("SIZE")) {
        line = out.readLine();
      }
      assertTrue(line != null, () -> "it ended early: " + err.join());
      List<ProcessHandle> ranks = parent.children().toList();
      assertEquals(3, ranks.size());
      return ranks;
    }

    @Override
    public void close() {
      parent.descendants().forEach(ProcessHandle::destroyForcibly);
      parent.destroyForcibly();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-p shm", "--algorithm doubling"})
  void aKilledRankEndsTheOthersAndIsNamed(String arguments) throws Exception {
    String[] more = arguments.isEmpty() ? new String[0] : arguments.split(" ");
    try (LongRun run = new LongRun(more)) {
      List<ProcessHandle> ranks = run.ranksThatRun();
      ProcessHandle killed = ranks.get(1);
      assertTrue(killed.destroyForcibly());
      assertTrue(run.parent.waitFor(60, TimeUnit.SECONDS), "it does not end");
      assertEquals(ExitCode.FAILED, run.parent.exitValue());
      String said = run.err.get(5, TimeUnit.SECONDS);
      assertTrue(
          said.contains("(process %d) was killed by signal 9".formatted(killed.pid())), said);
      // Which rank that was only the run knows: process ids may wrap between two of them.
      Matcher named =
          Pattern.compile("rank (\\d) \\(process %d\\)".formatted(killed.pid())).matcher(said);
      assertTrue(named.find(), said);
      String which = named.group(1);
      assertTrue(
          said.matches("(?s).*rank [^%s] stopped: rank %s failed.*".formatted(which, which)), said);
      assertFalse(said.contains("\tat "), said);
      for (ProcessHandle rank : ranks) {
        assertFalse(rank.isAlive(), "an orphan: " + rank.pid());
      }
    }
  }

  /** As Ctrl-C does, which all processes get at once; its own signal is ignored in some shells. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsEndedLeavesNoSharedMemory(boolean ranksToo) throws Exception {
    try (LongRun run = new LongRun("-p", "shm")) {
      List<ProcessHandle> ranks = run.ranksThatRun();
      assertFalse(sharedMemory(ranks).isEmpty(), "nothing there to begin with");
      run.parent.destroy();
      if (ranksToo) {
        ranks.forEach(ProcessHandle::destroy);
      }
      assertTrue(run.parent.waitFor(60, TimeUnit.SECONDS), "it does not end");
      for (ProcessHandle rank : ranks) {
        rank.onExit().get(60, TimeUnit.SECONDS);
      }
      assertEquals(List.of(), sharedMemory(ranks));
    }
  }

  private static List<String> sharedMemory(List<ProcessHandle> ranks) throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
      return files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> ranks.stream().anyMatch(rank -> name.startsWith(rank.pid() + ":")))
          .toList();
    }
  }

  @Test
  void ranksEndWithWhoStartedThem() throws Exception {
    try (LongRun run = new LongRun()) {
      List<ProcessHandle> ranks = run.ranksThatRun();
      run.parent.destroyForcibly();
      for (ProcessHandle rank : ranks) {
        rank.onExit().get(60, TimeUnit.SECONDS);
      }
    }
  }
}
