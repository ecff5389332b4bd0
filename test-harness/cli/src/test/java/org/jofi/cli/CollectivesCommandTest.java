package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code jofi collectives}, as a user starts it. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class CollectivesCommandTest {
  private static final List<String> ALL =
      List.of(
          "all-reduce",
          "reduce-scatter",
          "all-gather",
          "broadcast",
          "reduce",
          "gather",
          "scatter",
          "all-to-all",
          "barrier");

  @TempDir private Path folder;

  private static List<JsonObject> results(CommandProcess.Outcome outcome) {
    assertEquals(0, outcome.code(), outcome.err());
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertEquals(0, document.get("errors").getAsLong(), outcome.out());
    return StreamSupport.stream(document.getAsJsonArray("results").spliterator(), false)
        .map(JsonElement::getAsJsonObject)
        .toList();
  }

  /** Less than an element for each rank, no multiple of the ranks, and more than a chunk. */
  @ParameterizedTest
  @CsvSource({"i64, sum, 1", "bf16, average, 2"})
  void measuresAllOperationsOverThreadsOfASimulatedFabric(String type, String op, int root) {
    Path plot = folder.resolve("plot.svg");
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(
            "collectives",
            "--json",
            "-p",
            "sim:efa",
            "-n3",
            "-s8,1000,20K",
            "-k2",
            "-w1",
            "--chunk=4K",
            "--type=" + type,
            "--op=" + op,
            "--root=" + root,
            "--plot=" + plot);
    List<JsonObject> results = results(outcome);
    assertTrue(Files.exists(plot));
    assertEquals(
        ALL, results.stream().map(row -> row.get("operation").getAsString()).distinct().toList());
    assertEquals(3 * 8 + 1, results.size());
    for (JsonObject row : results) {
      long bytes = row.get("bytes").getAsLong();
      boolean isBarrier = row.get("operation").getAsString().equals("barrier");
      assertEquals(isBarrier, bytes == 0, row::toString);
      assertTrue(row.get("bestNanos").getAsLong() > 0, row::toString);
      assertEquals(2, row.get("iterations").getAsInt());
      assertFalse(row.get("algorithm").getAsString().isEmpty(), row::toString);
    }
    JsonObject gathered = row(results, "all-gather", 2);
    int elementBytes = type.equals("i64") ? 8 : 2;
    assertEquals(20 * 1024 / elementBytes / 3, gathered.get("elements").getAsInt());
    assertEquals(
        3L * elementBytes * gathered.get("elements").getAsInt(), gathered.get("bytes").getAsLong());
    assertTrue(gathered.get("reduction").isJsonNull() && gathered.get("root").isJsonNull());
    JsonObject reduced = row(results, "reduce", 0);
    assertEquals(op, reduced.get("reduction").getAsString());
    assertEquals(root, reduced.get("root").getAsInt());
  }

  private static JsonObject row(List<JsonObject> results, String operation, int index) {
    return results.stream()
        .filter(row -> row.get("operation").getAsString().equals(operation))
        .skip(index)
        .findFirst()
        .orElseThrow();
  }

  /** Ranks that are threads, on libfabric, prepared as processes are. */
  @Test
  void preparesItselfAndPrintsATable() {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(
            "collectives",
            "reduce-scatter",
            "BARRIER",
            "-s4,256K",
            "-k2",
            "-w0",
            "-p",
            "net",
            "--prepare=0.1",
            "--rank-threads");
    assertEquals(0, outcome.code(), outcome.err());
    List<String> lines = outcome.out().lines().toList();
    assertTrue(lines.getFirst().startsWith("collective operations, 2 rank(s); "), outcome.out());
    outcome.assertSaysThatItPrepared();
    assertTrue(
        lines.get(3).matches("OPERATION +SIZE B +COUNT +TYPE +REDOP +ROOT +TIME us .* ALGORITHM"),
        outcome.out());
    assertTrue(
        lines.get(4).matches("reduce-scatter +8 +1 +f32 +sum +-1( +[0-9.]+){4} +0  [a-z]+"),
        outcome.out());
    assertTrue(
        lines.get(5).matches("reduce-scatter +262144 +32768 +f32 +sum +-1 .* 0  ring"),
        outcome.out());
    assertTrue(lines.get(6).matches("barrier +0 +0 .*"), outcome.out());
    assertEquals("every element of every round was right", lines.getLast());
  }

  @Test
  void measuresBetweenProcesses() throws Exception {
    CommandProcess.Outcome outcome =
        CommandProcess.run(
            folder,
            Map.of(),
            "collectives",
            "all-reduce",
            "all-to-all",
            "-s64,64K",
            "-k2",
            "-w0",
            "-p",
            "shm",
            "--prepare=0",
            "--json",
            "--algorithm=",
            "--type=f16");
    assertEquals("", outcome.err());
    assertEquals(4, results(outcome).size(), outcome.out());
  }

  @Test
  void oneRankHasItAlready() {
    assertEquals(
        9,
        results(
                CommandProcess.runHere(
                    "collectives", "-n1", "-p", "sim:cxi", "-s4K", "-k1", "--json"))
            .size());
  }

  @Test
  void theAlgorithmIsTheOneThatIsAskedFor() {
    List<JsonObject> results =
        results(
            CommandProcess.runHere(
                "collectives",
                "all-reduce",
                "-n3",
                "-p",
                "sim:efa",
                "-s4",
                "-k1",
                "--json",
                "--algorithm=halving"));
    assertEquals("halving", results.getFirst().get("algorithm").getAsString());
  }

  /** Threads of one process are on one host. */
  @Test
  void ranksOfAHostAreConnectedOverADeviceOfItsOwn() {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(
            "collectives",
            "all-reduce",
            "-n3",
            "-p",
            "sim:efa",
            "--within-host",
            "sim:tcp",
            "-s4,64K",
            "-k1",
            "--json");
    assertEquals(2, results(outcome).size());
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertEquals("sim:tcp", document.get("withinHost").getAsString());
    assertEquals("[[0,1,2]]", document.getAsJsonArray("hosts").toString());
  }

  /** As the processes of a launcher; that there is one host is known when all have told. */
  @Test
  void anAlgorithmForTwoLevelsNeedsThem() {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(
            "collectives",
            "all-reduce",
            "-n3",
            "-p",
            "sim:efa",
            "--within-host",
            "sim:tcp",
            "-s4",
            "--algorithm=two-level");
    assertEquals(ExitCode.FAILED, outcome.code(), outcome.err());
    assertTrue(
        outcome
            .err()
            .contains(
                "3 ranks on 1 host (3): no algorithm 'two-level' for all-reduce of 3 ranks; there are ring, doubling, halving"),
        outcome.err());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nosuch | no operation 'nosuch'; there are all-reduce, reduce-scatter, all-gather, broadcast,"
            + " reduce, gather, scatter, all-to-all, barrier",
        "all-reduce --algorithm nosuch | no algorithm 'nosuch' for all-reduce of 2 ranks; there are"
            + " ring, doubling",
        "broadcast all-reduce --algorithm ring | no algorithm 'ring' for broadcast of 2 ranks; there"
            + " are binomial, chain",
        "--type f8 | no type 'f8'; there are f32, f64, f16, bf16, i32, i64, byte",
        "--op xor | no reduction 'xor'; there are sum, product, min, max, average",
        "reduce --type byte | bytes have no sum: name another --type for reduce, or only operations"
            + " that move elements",
        "--root 2 | --root must be 0 to 1, is 2",
        "--root -1 | --root must be 0 to 1, is -1",
        "-s 2 | 2 bytes are no length of an array of f32: a size is 4 to 1125899906842624",
        "-n 65 | --ranks must be 1 to 64, is 65",
        "-k 0 | --iterations must be 1 or more, is 0",
        "--chunk 6 | --chunk must be 64 to 1G, is 6",
        "--window 65 | --window must be 1 to 64, is 65",
        "--within-host shm -p sim:efa | --within-host shm and --provider sim:efa do not go together:"
            + " a simulated fabric connects threads, others processes; name two of a kind",
        "all-reduce --algorithm two-level | no algorithm 'two-level' for all-reduce of 2 ranks; there"
            + " are ring, doubling",
        "-p sim:efa --plot /nosuch/a.svg | --plot /nosuch/a.svg cannot be written: name a file in a"
            + " folder that is there and takes it"
      })
  void wrongUsageIsToldBeforeAnythingStarts(String words) {
    String[] parts = words.split(" \\| ", 2);
    CommandProcess.Outcome outcome = CommandProcess.runHere(("collectives " + parts[0]).split(" "));
    assertEquals(ExitCode.USAGE, outcome.code(), outcome.err());
    assertEquals("", outcome.out());
    assertEquals(parts[1] + "\nsee jofi collectives --help\n", outcome.err());
  }

  @Test
  void moreMemoryThanThereIsIsRefused() {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere("collectives", "-n", "3", "-s", "4T", "-p", "sim:efa");
    assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("not enough memory: 3 rank(s) here need"), outcome.err());
  }
}
