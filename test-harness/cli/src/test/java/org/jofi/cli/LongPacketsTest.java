package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jofi.cli.soak.RailNetwork;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code jofi perf} over a path that takes shorter packets than both ends think, and tells nobody:
 * the peers hear each other, and no message gets through.
 */
@Timeout(120)
class LongPacketsTest {
  /** In seconds; far below the time that a test of a program would wait for messages. */
  private static final List<String> LIMITS = List.of("--peer-timeout=2", "--timeout=100");

  @TempDir private Path folder;

  /** Who gets no long packets. */
  enum Dropping {
    LISTENER,
    CONNECTOR,
    BOTH;

    private List<Integer> hosts() {
      return switch (this) {
        case LISTENER -> List.of(1);
        case CONNECTOR -> List.of(0);
        case BOTH -> List.of(0, 1);
      };
    }
  }

  @BeforeAll
  static void needsLoss() {
    String obstacle = RailNetwork.obstacleToLoss();
    assumeTrue(obstacle.isEmpty(), obstacle);
  }

  @ParameterizedTest
  @CsvSource("net, 1, BOTH")
  void bothSidesAreToldWithinThePeersTimeLimit(String provider, int rails, Dropping dropping)
      throws Exception {
    try (TwoHosts hosts = new TwoHosts()) {
      for (int rail = 0; rail < rails; rail++) {
        String name = "rail" + rail;
        hosts.pair(name);
        hosts.address(name, "10.91.%d.1/24".formatted(rail), "10.91.%d.2/24".formatted(rail));
        for (int host : dropping.hosts()) {
          hosts.dropsLongPackets(host, name);
        }
      }
      List<String> options = new ArrayList<>(List.of("-p", provider, "-b", "1M", "-e", "1M"));
      options.addAll(List.of("-d", rails == 1 ? "rail0" : "rail0,rail1"));
      options.addAll(LIMITS);
      List<CommandProcess.Outcome> said = hosts.perf(folder, options, options);
      String all = said.get(0).err() + said.get(1).err();
      for (CommandProcess.Outcome side : said) {
        assertEquals(1, side.code(), all);
        assertTrue(side.err().contains("peer lost"), all);
      }
      // Of several rails, one may be found to be silent before, and its end taken for all.
      boolean isRail = rails > 1 && all.contains("bytes out, while the peer is heard over others;");
      assertTrue(isRail || all.contains("moved for 2000 ms, over rail0 from 10.91.0."), all);
      assertTrue(all.contains("compare the MTU"), all);
    }
  }

  /** Also where one end alone gets none, and where each of several rails drops them. */
  @ParameterizedTest
  @CsvSource({"net, 2, BOTH", "tcp;ofi_rxm, 1, LISTENER", "tcp;ofi_rxm, 2, CONNECTOR"})
  @Tag("long")
  void soTheyAreOverEveryProviderOfSockets(String provider, int rails, Dropping dropping)
      throws Exception {
    bothSidesAreToldWithinThePeersTimeLimit(provider, rails, dropping);
  }
}
