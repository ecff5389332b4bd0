package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jofi.cli.soak.RailNetwork;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code jofi soak}, for as long as a test may take. */
@Timeout(400)
@Isolated("a machine that is busy is slow to answer")
class SoakCommandTest {
  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--minutes 0|--minutes must be more than 0",
        "--minutes -1|--minutes must be more than 0",
        "--ranks 1|--ranks must be 2 to 16, is 1",
        "--ranks 17|--ranks must be 2 to 16, is 17",
        "--rails 9|--rails must be 1 to 8, is 9",
        "--timeout 5|--timeout must be 30 to 3600, is 5",
        "--faults cuts|--faults: there is no fault 'cuts'; a list has cut,blackhole,loss",
        "--seed much|'much' is not a long",
        "--faults cut --rails 1|--rails 2",
        "--faults cut -p shm|--provider net",
        "-p sim:efa|jofi simulate",
        "-p sim:nothing|no profile named 'nothing'",
      })
  void wrongUsageIsToldWithWhatToDo(String arguments, String words) {
    CommandProcess.Outcome outcome = CommandProcess.runHere(("soak " + arguments).split(" ", -1));
    assertEquals(ExitCode.USAGE, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains(words), outcome.err());
    assertEquals(2, outcome.err().lines().count(), outcome.err());
  }

  /** The ranks look for their device; what they miss is the machine's, not theirs. */
  @Test
  void withoutTheProviderSomethingIsMissing() throws Exception {
    CommandProcess.Outcome outcome =
        CommandProcess.run(folder, Map.of(), "soak", "-p", "nosuch", "--faults", "none");
    assertEquals(ExitCode.ENVIRONMENT, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("nosuch"), outcome.err());
  }

  private static JsonObject held(CommandProcess.Outcome outcome) {
    assertEquals(ExitCode.OK, outcome.code(), outcome.err() + outcome.out());
    JsonObject document = JsonParser.parseString(outcome.out()).getAsJsonObject();
    System.out.println(document);
    assertTrue(document.get("difference").isJsonNull());
    assertTrue(document.get("bytesChecked").getAsLong() > 10_000_000);
    assertTrue(document.getAsJsonObject("roundsByKind").size() >= 5);
    assertEquals(document.get("rails").getAsInt(), document.get("railsUp").getAsInt());
    assertEquals(document.get("ranks").getAsInt(), document.getAsJsonObject("growth").size());
    return document;
  }

  private static void needsNamespaces() {
    String obstacle = RailNetwork.obstacle();
    assumeTrue(obstacle.isEmpty(), obstacle);
  }

  @Test
  void faultsOfRailsAreSurvived() throws Exception {
    needsNamespaces();
    JsonObject document =
        held(
            run(
                "--minutes",
                "0.05",
                "--rails",
                "2",
                "--faults",
                "cut,blackhole,slow",
                "--seed",
                "5"));
    JsonObject faults = document.getAsJsonObject("faults");
    assertFalse(faults.isEmpty(), document.toString());
    assertFalse(faults.has("kill") || faults.has("stop") || faults.has("loss"), faults.toString());
    assertEquals(List.of(), RailNetworks.left());
  }

  /** The plan of this seed kills every 1.0 to 1.6 s if all ranks have met by then. */
  @Test
  void ranksThatAreKilledAreStartedAgain() throws Exception {
    JsonObject document =
        held(run("--minutes", "0.05", "--rails", "2", "--faults", "kill", "--seed", "1515"));
    int kills = document.getAsJsonObject("faults").get("kill").getAsInt();
    assertTrue(kills > 0, document.toString());
    assertEquals(kills, document.get("restarts").getAsInt());
    assertEquals(kills, document.get("generationsAborted").getAsInt());
    // None, if a rank was killed before it was connected.
    for (String end : document.getAsJsonObject("requestsToKilledRanks").keySet()) {
      assertTrue(end.matches("(send|receive): (PEER_LOST|FABRIC)"), document.toString());
    }
  }

  @Test
  @Tag("long")
  void allFaultsTogetherAreSurvived() throws Exception {
    needsNamespaces();
    JsonObject document = held(run("--minutes", "0.7", "--seed", "7"));
    assertTrue(document.getAsJsonObject("faults").size() >= 4, document.toString());
    assertEquals(List.of(), RailNetworks.left());
  }

  private CommandProcess.Outcome run(String... arguments) throws Exception {
    return CommandProcess.run(folder, start(arguments), 390);
  }

  private ProcessBuilder start(String... arguments) {
    ProcessBuilder builder = CommandProcess.builder(Map.of(), "soak", "-p", "net", "--json");
    builder.command().addAll(List.of(arguments));
    // What ranks said is kept where something did not hold.
    builder.command().add(1, "-Djava.io.tmpdir=" + folder);
    return builder;
  }

  /** Nobody but the plan may end a rank. */
  @Test
  void aRankThatEndsByItselfIsTheDifference() throws Exception {
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    Process process =
        start("--minutes", "2", "--rails", "1", "--faults", "none", "--seed", "77", "-v")
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(180);
    while (!Files.readString(err).contains("generation 1 is over")) {
      assertTrue(process.isAlive() && System.nanoTime() - deadline < 0, Files.readString(err));
      TimeUnit.MILLISECONDS.sleep(50);
    }
    ProcessHandle rank = process.children().findFirst().orElseThrow();
    rank.destroyForcibly();
    assertTrue(process.waitFor(180, TimeUnit.SECONDS), "it hangs");
    String words = Files.readString(err);
    assertEquals(ExitCode.FAILED, process.exitValue(), words);
    assertTrue(
        words.contains(
            "it ended by itself, (process %d) was killed by signal 9".formatted(rank.pid())),
        words);
    assertTrue(words.contains("faults then: none"), words);
    assertTrue(words.contains("--seed 77"), words);
    JsonObject document = JsonParser.parseString(Files.readString(out)).getAsJsonObject();
    assertEquals(77, document.get("seed").getAsLong());
    // The next one, or a later one if this test was held up.
    int generation = document.getAsJsonObject("difference").get("generation").getAsInt();
    assertTrue(generation >= 2, words);
    assertTrue(words.contains("generation %d is over".formatted(generation - 1)), words);
    assertFalse(words.contains("generation %d is over".formatted(generation)), words);
    assertEquals(0, process.children().count());
  }

  /** The ranks and the network go with the process that made them, however it ends. */
  @Test
  void nothingIsLeftOfARunThatIsInterrupted() throws Exception {
    needsNamespaces();
    Path err = folder.resolve("err");
    Process process =
        start("--minutes", "2", "--rails", "2", "-v")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(err.toFile())
            .start();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(180);
    while (!Files.readString(err).contains("generation 1 is over")) {
      assertTrue(process.isAlive() && System.nanoTime() - deadline < 0, Files.readString(err));
      TimeUnit.MILLISECONDS.sleep(50);
    }
    List<ProcessHandle> ranks = process.children().toList();
    assertTrue(ranks.size() >= 2, ranks.toString());
    process.destroy();
    assertTrue(process.waitFor(180, TimeUnit.SECONDS), "it hangs");
    for (ProcessHandle rank : ranks) {
      rank.onExit().get(180, TimeUnit.SECONDS);
    }
    assertEquals(List.of(), RailNetworks.left());
  }

  /** Network namespaces of a soak whose process is gone. */
  private static final class RailNetworks {
    static List<String> left() throws IOException {
      Path all = Path.of("/run/netns");
      if (!Files.isDirectory(all)) {
        return List.of();
      }
      try (var names = Files.list(all)) {
        return names
            .map(each -> String.valueOf(each.getFileName()))
            .filter(name -> name.startsWith("jofi-soak-"))
            .filter(name -> ProcessHandle.of(Long.parseLong(name.split("-", 4)[2])).isEmpty())
            .toList();
      }
    }
  }
}
