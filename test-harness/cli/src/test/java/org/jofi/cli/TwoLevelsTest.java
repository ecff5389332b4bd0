package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Path;
import java.util.List;
import org.jofi.cli.soak.RailNetwork;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code jofi collectives} between processes on two hosts, over shm within a host and net between
 * them; every element is checked. Four JVMs for each placement.
 */
@Tag("long")
@Timeout(240)
class TwoLevelsTest {
  @TempDir private Path folder;

  @BeforeAll
  static void needsNamespaces() {
    String obstacle = RailNetwork.obstacle();
    assumeTrue(obstacle.isEmpty(), obstacle);
  }

  @ParameterizedTest
  @ValueSource(strings = {"[[0,1],[2,3]]", "[[0,2,3],[1]]"})
  void ranksOfTwoHostsAreExact(String placement) throws Exception {
    List<Integer> second = placement.endsWith("[1]]") ? List.of(1) : List.of(2, 3);
    List<Integer> hosts =
        List.of(0, 1, 2, 3).stream().map(rank -> second.contains(rank) ? 0 : 1).toList();
    try (TwoHosts two = new TwoHosts()) {
      List<CommandProcess.Outcome> said =
          two.ranks(
              folder,
              hosts,
              List.of(
                  "collectives",
                  "-p",
                  "net",
                  "-d",
                  "control",
                  "--within-host",
                  "shm",
                  "-s4,5000,300K",
                  "-k2",
                  "-w1",
                  "--chunk=16K",
                  "--prepare=0",
                  "--json"));
      said.forEach(side -> assertEquals(0, side.code(), side.err()));
      JsonObject document = JsonParser.parseString(said.getFirst().out()).getAsJsonObject();
      assertEquals(0, document.get("errors").getAsLong());
      assertEquals("net", document.get("provider").getAsString());
      assertEquals("shm", document.get("withinHost").getAsString());
      assertEquals(placement, document.getAsJsonArray("hosts").toString());
      List<JsonObject> rows =
          document.getAsJsonArray("results").asList().stream()
              .map(JsonElement::getAsJsonObject)
              .toList();
      assertEquals(3 * 8 + 1, rows.size());
      JsonObject longest = rows.get(2);
      assertEquals("two-level", longest.get("algorithm").getAsString(), longest::toString);
      assertTrue(
          longest.get("algorithmBecause").getAsString().startsWith("4 ranks on 2 hosts"),
          longest::toString);
    }
  }
}
