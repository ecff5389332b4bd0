package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jofi.cli.soak.RailNetwork;
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
@Tag("alone")
@Isolated("it measures")
class UnequalRailsTest {
  @TempDir private Path folder;

  @BeforeAll
  static void needsNamespaces() {
    String obstacle = RailNetwork.obstacle();
    assumeTrue(obstacle.isEmpty(), obstacle);
  }

  @Test
  void aRailOfATenthHoldsUpNoOther() throws Exception {
    try (PerfOverRails perf = new PerfOverRails(4, folder)) {
      perf.slow(3, 10);
      perf.start(100);
      double gigabits = perf.measured();
      // Half of it where the machine is busy; four times the slowest would be 0.4.
      assertTrue(gigabits > 1, "of 3.1: " + gigabits);
      JsonArray loads = perf.document(0).getAsJsonArray("railLoads");
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
    try (PerfOverRails perf = new PerfOverRails(4, folder)) {
      perf.slow(3, 2);
      perf.start(200, "--op", operation);
      double gigabits = perf.measured();
      assertTrue(gigabits > 2.6, "of 3.5: " + gigabits);
    }
  }

  /** Four times the slowest would be 0.4 for half of the time. */
  @Test
  @Tag("long")
  void aRateThatChangesIsFollowed() throws Exception {
    try (PerfOverRails perf = new PerfOverRails(4, folder)) {
      perf.start(400);
      boolean slow = false;
      while (!perf.process(0).waitFor(1500, TimeUnit.MILLISECONDS)) {
        slow = !slow;
        if (slow) {
          perf.slow(2, 10);
        } else {
          perf.mend(2);
        }
      }
      double gigabits = perf.measured();
      assertTrue(gigabits > 2, "of 3.1 to 4: " + gigabits);
    }
  }
}
