package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code jofi perf} over four real TCP rails of unlike rates, between two network namespaces: what
 * they carry together is used, and every byte is right. With equal stripes, four rails are four
 * times the slowest.
 */
@Timeout(300)
@Isolated("it measures")
class UnequalRailsTest {
  private static final int GIGABIT = 1000;

  /** More than a rail carries before the measured messages, and less than with them. */
  private static final long IN_MID_RUN = 200_000_000;

  @TempDir private Path folder;

  @BeforeAll
  static void needsNamespaces() throws InterruptedException {
    Optional<String> obstacle = NetworkRails.obstacle();
    assumeTrue(obstacle.isEmpty(), () -> obstacle.orElse(""));
  }

  private Process start(boolean listens, NetworkRails rails, String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("perf", "-p", "net", "-d", rails.device()));
    arguments.addAll(List.of("-b", "4M", "-e", "4M", "--window", "4", "--prepare=0.5", "--json"));
    arguments.addAll(listens ? List.of("--listen") : List.of("--connect", NetworkRails.address(0)));
    arguments.addAll(List.of(more));
    ProcessBuilder builder = CommandProcess.builder(Map.of(), arguments.toArray(String[]::new));
    if (listens) {
      rails.moveLeft(builder);
    } else {
      rails.moveRight(builder);
    }
    String name = listens ? "left" : "right";
    return builder
        .redirectOutput(folder.resolve(name + ".out").toFile())
        .redirectError(folder.resolve(name + ".err").toFile())
        .start();
  }

  /** Gigabits per second that arrived. */
  private double measured(Process left, Process right) throws Exception {
    assertTrue(left.waitFor(150, TimeUnit.SECONDS), "it hangs");
    assertTrue(right.waitFor(150, TimeUnit.SECONDS), "it hangs");
    assertEquals(0, right.exitValue(), Files.readString(folder.resolve("right.err")));
    assertEquals(0, left.exitValue(), Files.readString(folder.resolve("left.err")));
    JsonObject document =
        JsonParser.parseString(Files.readString(folder.resolve("right.out"))).getAsJsonObject();
    assertEquals(0, document.get("errors").getAsLong(), document.toString());
    JsonObject row = document.getAsJsonArray("results").get(0).getAsJsonObject();
    return row.get("bytesPerSecond").getAsDouble() * 8 / 1e9;
  }

  private double measured(NetworkRails rails, String... more) throws Exception {
    return measured(start(true, rails, more), start(false, rails, more));
  }

  @Test
  void aRailOfATenthHoldsUpNoOther() throws Exception {
    try (NetworkRails rails = new NetworkRails(GIGABIT, GIGABIT, GIGABIT, GIGABIT / 10)) {
      double gigabits = measured(rails, "-n", "100");
      assertTrue(gigabits > 2, "of 3.1: " + gigabits);
      JsonArray loads =
          JsonParser.parseString(Files.readString(folder.resolve("left.out")))
              .getAsJsonObject()
              .getAsJsonArray("railLoads");
      assertEquals(4, loads.size());
      for (int rail = 0; rail < 4; rail++) {
        JsonObject load = loads.get(rail).getAsJsonObject();
        double share = load.get("share").getAsDouble();
        assertTrue(rail < 3 ? share > 0.2 : share < 0.2, loads.toString());
        assertEquals("rail" + rail, load.get("nic").getAsString());
        assertEquals("up", load.get("state").getAsString());
        assertEquals("", load.get("cause").getAsString());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"send", "write", "read"})
  @Tag("long")
  void aRailOfAHalfCarriesAHalf(String operation) throws Exception {
    try (NetworkRails rails = new NetworkRails(GIGABIT, GIGABIT, GIGABIT, GIGABIT / 2)) {
      double gigabits = measured(rails, "-n", "200", "--op", operation);
      assertTrue(gigabits > 2.6, "of 3.5: " + gigabits);
    }
  }

  /**
   * Nobody but the log notices, and every byte is right: the others carry what it had. Reads, too:
   * their rail's endpoint closes, and then the provider says that they failed.
   */
  @ParameterizedTest
  @ValueSource(strings = {"send", "read"})
  void aRailThatIsCutIsSurvived(String operation) throws Exception {
    try (NetworkRails rails = new NetworkRails(GIGABIT, GIGABIT, GIGABIT, GIGABIT)) {
      Process left = start(true, rails, "-n", "600", "--op", operation);
      Process right = start(false, rails, "-n", "600", "--op", operation);
      cutInMidRun(rails, right);
      long longest = longestGap(rails, right);
      double gigabits = measured(left, right);
      System.out.printf(
          "longest gap %d ms, %.2f Gbit/s in all:%n%s%n", longest, gigabits, errors());
      assertTrue(errors().contains("; 3 of 4 data rails are up"), errors());
      JsonObject result =
          JsonParser.parseString(Files.readString(folder.resolve("left.out")))
              .getAsJsonObject()
              .getAsJsonArray("results")
              .get(0)
              .getAsJsonObject();
      assertEquals(3, result.get("railsUp").getAsInt(), result.toString());
      String why = result.get("railsDownBecause").getAsString();
      assertTrue(why.contains("data rail 2") && why.contains("silent for"), why);
      assertTrue(longest < 2500, "ms: " + longest);
    }
  }

  /** It is used again when its link is. */
  @Test
  @Tag("long")
  void aRailThatComesBackIsUsedAgain() throws Exception {
    try (NetworkRails rails = new NetworkRails(GIGABIT, GIGABIT, GIGABIT, GIGABIT)) {
      Process left = start(true, rails, "-n", "1500");
      Process right = start(false, rails, "-n", "1500");
      cutInMidRun(rails, right);
      while (!errors().contains("silent for")) {
        assertTrue(right.isAlive(), () -> "it ended early: " + right.exitValue());
        TimeUnit.MILLISECONDS.sleep(20);
      }
      TimeUnit.SECONDS.sleep(1);
      rails.mend(2);
      long carried = rails.carried(2);
      measured(left, right);
      System.out.println(errors());
      assertTrue(errors().contains("is used again; 4 of 4 data rails are up"), errors());
      assertTrue(rails.carried(2) - carried > IN_MID_RUN, "it carries nothing");
    }
  }

  private static void cutInMidRun(NetworkRails rails, Process right) throws Exception {
    while (rails.carried(2) < IN_MID_RUN) {
      assertTrue(right.isAlive(), () -> "it ended early: " + right.exitValue());
      TimeUnit.MILLISECONDS.sleep(20);
    }
    rails.cut(2);
  }

  /** For how long a sound rail carried nothing, until the process ends; in ms. */
  private static long longestGap(NetworkRails rails, Process right) throws Exception {
    long longest = 0;
    long last = System.nanoTime();
    long carried = rails.carried(0);
    while (right.isAlive()) {
      TimeUnit.MILLISECONDS.sleep(5);
      long now = rails.carried(0);
      // Less than a chunk is questions and answers.
      if (now - carried > 50_000) {
        carried = now;
        longest = Math.max(longest, System.nanoTime() - last);
        last = System.nanoTime();
      }
    }
    return longest / 1_000_000;
  }

  private String errors() throws IOException {
    return Files.readString(folder.resolve("left.err"))
        + Files.readString(folder.resolve("right.err"));
  }

  /** Four times the slowest would be 0.4 for half of the time. */
  @Test
  @Tag("long")
  void aRateThatChangesIsFollowed() throws Exception {
    try (NetworkRails rails = new NetworkRails(GIGABIT, GIGABIT, GIGABIT, GIGABIT)) {
      Process left = start(true, rails, "-n", "400");
      Process right = start(false, rails, "-n", "400");
      boolean slow = false;
      while (!left.waitFor(1500, TimeUnit.MILLISECONDS)) {
        slow = !slow;
        rails.rate(2, slow ? GIGABIT / 10 : GIGABIT);
      }
      double gigabits = measured(left, right);
      assertTrue(gigabits > 2, "of 3.1 to 4: " + gigabits);
    }
  }
}
