package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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

/** {@code jofi allreduce --algorithm}, as a user starts it. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class AllReduceAlgorithmTest {
  /** One element, odd, up to where a ring begins, several chunks. */
  private static final String SIZES = "4,4004,32K,256K";

  private static final List<String> DOUBLING =
      List.of("doubling", "doubling", "doubling", "doubling");
  private static final List<String> RING = List.of("ring", "ring", "ring", "ring");
  private static final List<String> AUTO = List.of("doubling", "doubling", "doubling", "ring");

  /** Of a power of two of ranks, more than two. */
  private static final List<String> OF_FOUR =
      List.of("doubling", "doubling", "doubling", "halving");

  /** Of one rank, which has the sum already. */
  private static final List<String> ALONE = List.of("copy", "copy", "copy", "copy");

  @TempDir private Path folder;

  private static String[] arguments(String provider, int ranks, String algorithm, String more) {
    String words =
        "allreduce --json -s %s -k 6 -w 1 --chunk 16K --prepare 0.1 -p %s -n %d --algorithm %s %s"
            .formatted(SIZES, provider, ranks, algorithm, more);
    return words.strip().split(" +");
  }

  private static void assertRight(
      CommandProcess.Outcome outcome, int ranks, String algorithm, List<String> each) {
    assertEquals(0, outcome.code(), outcome.err());
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    assertEquals(ranks, document.get("ranks").getAsInt());
    assertEquals(0, document.get("errors").getAsLong(), outcome.out());
    assertEquals(algorithm, document.get("algorithm").getAsString());
    JsonArray results = document.getAsJsonArray("results");
    assertEquals(
        each,
        Stream.of(0, 1, 2, 3)
            .map(i -> results.get(i).getAsJsonObject().get("algorithm").getAsString())
            .toList());
  }

  @ParameterizedTest
  @CsvSource({
    "net, 2, ''",
    "net, 3, --eager 32K",
    "net, 4, --eager 8K --rails 2",
    "shm, 2, --eager 32K",
    "shm, 3, ''",
    "shm, 4, --eager 32K"
  })
  void ranksDouble(String provider, int ranks, String more) {
    assertRight(
        CommandProcess.runHere(arguments(provider, ranks, "doubling", "--rank-threads " + more)),
        ranks,
        "doubling",
        DOUBLING);
  }

  @ParameterizedTest
  @CsvSource({"net, 4, ''", "shm, 3, ''", "shm, 2, --eager 0"})
  void theLengthDecides(String provider, int ranks, String more) {
    assertRight(
        CommandProcess.runHere(arguments(provider, ranks, "auto", "--rank-threads " + more)),
        ranks,
        "auto",
        ranks == 4 ? OF_FOUR : AUTO);
  }

  /** Where each communicator may be of another endpoint. */
  @ParameterizedTest
  @CsvSource({"net, 2", "net, 4", "shm, 3"})
  @Tag("long")
  void ranksDoubleWithProgressThreads(String provider, int ranks) {
    String more = "--rank-threads --eager 32K --progress-threads always";
    assertRight(
        CommandProcess.runHere(arguments(provider, ranks, "doubling", more)),
        ranks,
        "doubling",
        DOUBLING);
  }

  @ParameterizedTest
  @CsvSource({"net, 4, doubling, --eager 8K --rails 2", "shm, 3, auto, ''"})
  @Tag("long")
  void processesDoubleAsThreadsDo(String provider, int ranks, String algorithm, String more)
      throws Exception {
    assertRight(
        CommandProcess.run(folder, Map.of(), arguments(provider, ranks, algorithm, more)),
        ranks,
        algorithm,
        algorithm.equals("auto") ? AUTO : DOUBLING);
  }

  @ParameterizedTest
  @CsvSource({
    "efa, 1, ''",
    "efa, 2, --rails 2",
    "efa, 3, --eager 8K",
    "cxi, 4, --rails 4",
    "cxi-client-key, 5, ''",
    "tcp, 7, --eager 8K",
    "tcp, 8, ''"
  })
  void threadsOfASimulatedFabricDouble(String profile, int ranks, String more) {
    CommandProcess.Outcome outcome =
        CommandProcess.runHere(arguments("sim:" + profile, ranks, "doubling", more));
    assertRight(outcome, ranks, "doubling", ranks == 1 ? ALONE : DOUBLING);
  }

  @Test
  void anyIsThereToBeAskedFor() {
    List<String> halving = List.of("halving", "halving", "halving", "halving");
    assertRight(
        CommandProcess.runHere(arguments("sim:efa", 3, "halving", "")), 3, "halving", halving);
    assertRight(CommandProcess.runHere(arguments("sim:efa", 3, "ring", "")), 3, "ring", RING);
    assertRight(CommandProcess.runHere(arguments("sim:cxi", 3, "AUTO", "")), 3, "auto", AUTO);
  }

  /** Two ranks have no use for halving. */
  @ParameterizedTest
  @ValueSource(strings = {"tree", "halving"})
  void anotherAlgorithmIsRefused(String name) {
    CommandProcess.Outcome outcome = CommandProcess.runHere(arguments("sim:efa", 2, name, ""));
    assertEquals(ExitCode.USAGE, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("algorithm"), outcome.err());
    assertFalse(outcome.err().contains("\tat "), outcome.err());
  }
}
