package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jofi.cli.ranks.FabricEnd.Rail;
import org.jofi.transport.RailStatus;
import org.jofi.transport.RailStatus.Traffic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RailRoutesTest {
  private static final String SUBNET = "10.0.0.0/24";

  @TempDir private Path interfaces;

  private static Rail rail(String nic, String address) {
    return new Rail(nic, address, SUBNET, 0, "1500");
  }

  private void sent(String nic, long bytes) throws IOException {
    Path folder = Files.createDirectories(interfaces.resolve(nic).resolve("statistics"));
    Files.writeString(folder.resolve("tx_bytes"), bytes + "\n");
  }

  private static RailStatus carried(int rail, String nic, long bytes) {
    return new RailStatus(
        rail,
        nic,
        RailStatus.State.UP,
        Duration.ZERO,
        Optional.empty(),
        new Traffic(bytes, 0, 0, 0),
        Traffic.NONE);
  }

  @Test
  void aRailWhoseNicSendsNothingIsToldWithWhatToType() throws IOException {
    sent("a0", 1000);
    sent("a1", 5000);
    RailRoutes routes =
        new RailRoutes(interfaces, List.of(rail("a0", "10.0.0.1"), rail("a1", "10.0.0.3")));
    sent("a0", 101_000_000);
    sent("a1", 5586);
    List<String> found =
        routes.astray(List.of(carried(0, "a0", 50_000_000), carried(1, "a1", 49_000_000)));
    assertEquals(1, found.size(), found::toString);
    String words = found.getFirst();
    assertTrue(words.startsWith("rail 1: NIC a1 sent 586 bytes, of 49000000"), words);
    assertTrue(
        words.contains(
            "ip route add 10.0.0.0/24 dev a1 src 10.0.0.3 table 101; ip rule add from 10.0.0.3"),
        words);
  }

  /** Nothing is known of a NIC without counters, and little bytes tell nothing. */
  @Test
  void whatIsNotKnownIsNotTold() throws IOException {
    sent("a0", 0);
    RailRoutes routes =
        new RailRoutes(interfaces, List.of(rail("a0", "10.0.0.1"), rail("rdmap0", "")));
    assertEquals(
        List.of(),
        routes.astray(List.of(carried(0, "a0", 100_000), carried(1, "rdmap0", 49_000_000))));
    sent("a0", 60_000_000);
    assertEquals(List.of(), routes.astray(List.of(carried(0, "a0", 50_000_000))));
  }
}
