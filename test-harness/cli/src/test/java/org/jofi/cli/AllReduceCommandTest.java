package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
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
  void printsATableOfProcessesThatPreparedThemselves() throws Exception {
    CommandProcess.Outcome outcome = run("allreduce", "-s", "4,256K", "-k2", "--prepare=0.2");
    assertEquals(0, outcome.code(), outcome.err());
    assertEquals("", outcome.err());
    outcome.assertSaysThatItPrepared();
    List<String> lines = outcome.out().lines().toList();
    assertTrue(lines.getFirst().startsWith("all-reduce, sum of float32, 2 rank(s); "));
    assertTrue(outcome.out().contains(" 256 KiB "), outcome.out());
    assertEquals("every element of every round was the exact sum", lines.getLast());
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

  @Test
  void sumsOverProcesses() throws Exception {
    assertSums("shm", 2, 2, "4K");
  }

  /** One rank too, which has the sum already. */
  @ParameterizedTest
  @CsvSource({"tcp;ofi_rxm, 2, 2, 0", "'', 2, 2, 4K", "'', 1, 1, 0", "'', 4, 4, 0", "shm, 4, 1, 0"})
  @Tag("long")
  void sumsOverMoreProcesses(String provider, int ranks, int rails, String eager) throws Exception {
    assertSums(provider, ranks, rails, eager);
  }

  /** With lengths below and above what may leave before its receive is announced, and without. */
  @ParameterizedTest
  @CsvSource({
    "'', 2, 1, 0",
    "'', 3, 2, 4K",
    "tcp;ofi_rxm, 2, 2, 0",
    "tcp;ofi_rxm, 2, 1, 4K",
    "shm, 1, 2, 0",
    "shm, 2, 2, 0",
    "shm, 2, 1, 4K"
  })
  void sumsOverThreads(String provider, int ranks, int rails, String eager) {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(arguments(provider, ranks, rails, eager, "--rank-threads"));
    assertEquals("", outcome.err());
    assertRight(outcome, ranks, rails);
  }

  @Test
  void preparesNothingIfToldSo() {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(
            "allreduce", "-s4", "-k2", "--prepare=0", "--json", "--rank-threads");
    assertEquals(0, outcome.code(), outcome.err());
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertEquals(0, document.get("preparationRounds").getAsLong(), outcome.out());
  }

  private void assertSums(String provider, int ranks, int rails, String eager) throws Exception {
    CommandProcess.Outcome outcome = run(arguments(provider, ranks, rails, eager));
    assertEquals("", outcome.err());
    assertRight(outcome, ranks, rails);
  }

  private static String[] arguments(
      String provider, int ranks, int rails, String eager, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of("allreduce", "--json", "-s", SIZES, "-k", "2", "-w", "1", "--chunk", "16K"));
    arguments.addAll(List.of("--ranks", Integer.toString(ranks)));
    arguments.addAll(List.of("--rails", Integer.toString(rails)));
    arguments.addAll(List.of("--prepare", "0.1", "--eager", eager));
    if (!provider.isEmpty()) {
      arguments.addAll(List.of("--provider", provider));
    }
    arguments.addAll(List.of(more));
    return arguments.toArray(String[]::new);
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
  void moreMemoryThanThereIsIsRefusedInALineAndALink() {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere("allreduce", "-n", "3", "-s", "4T", "-p", "sim:efa");
    assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
    assertTrue(
        outcome.err().contains("3 rank(s) here need 4096.0 GiB each, 12288.0 GiB together"),
        outcome.err());
    assertEquals(2, outcome.err().lines().count(), outcome.err());
    assertTrue(
        outcome.err().endsWith("\nMore: docs/TROUBLESHOOTING.md#no-nic-or-no-room\n"),
        outcome.err());
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
  void anUnknownProviderIsNamedByEachRank() {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere("allreduce", "-p", "nosuch", "-s", "4", "--rank-threads");
    assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
    for (String rank : List.of("rank 0", "rank 1")) {
      assertTrue(
          outcome
              .err()
              .lines()
              .anyMatch(line -> line.startsWith(rank) && line.contains("'nosuch'")),
          outcome.err());
    }
    assertFalse(outcome.err().contains("\tat "), outcome.err());
  }

  @Test
  void takesItsPlaceFromMpirun() throws Exception {
    int port = Ports.free();
    List<Process> ranks = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      ranks.add(
          CommandProcess.builder(
                  Map.of(
                      "OMPI_COMM_WORLD_RANK",
                      Integer.toString(rank),
                      "OMPI_COMM_WORLD_SIZE",
                      "2",
                      "OMPI_COMM_WORLD_LOCAL_SIZE",
                      "2",
                      "MASTER_PORT",
                      Integer.toString(port)),
                  // How many there are is the launcher's to say.
                  arguments("tcp;ofi_rxm", 4, 1, "4K"))
              .redirectOutput(folder.resolve("out" + rank).toFile())
              .redirectError(folder.resolve("err" + rank).toFile())
              .start());
    }
    for (int rank = 0; rank < 2; rank++) {
      assertTrue(ranks.get(rank).waitFor(150, TimeUnit.SECONDS), "rank " + rank + " hangs");
      assertEquals(
          rank > 0
              ? ""
              : "placed by Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE) as rank 0 of 2;"
                  + " unset them to start ranks here; --ranks 4 is ignored\n",
          Files.readString(folder.resolve("err" + rank)));
      assertEquals(0, ranks.get(rank).exitValue());
    }
    String printed = Files.readString(folder.resolve("out0"));
    assertRight(new CommandProcess.Outcome(0, printed, ""), 2, 1);
    assertEquals("", Files.readString(folder.resolve("out1")));
  }
}
