package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.nio.file.Path;
import java.util.List;
import org.jofi.cli.soak.RailNetwork;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code jofi perf} between hosts that have the interfaces of users' machines. */
@Timeout(120)
class HostNicsTest {
  private static final List<String> NOTHING = List.of();

  @TempDir private Path folder;

  @BeforeAll
  static void needsNamespaces() {
    String obstacle = RailNetwork.obstacle();
    assumeTrue(obstacle.isEmpty(), obstacle);
  }

  private static List<String> nics(List<CommandProcess.Outcome> said) {
    said.forEach(side -> assertEquals(0, side.code(), side.err()));
    return JsonParser.parseString(said.getFirst().out())
        .getAsJsonObject()
        .getAsJsonArray("railLoads")
        .asList()
        .stream()
        .map(JsonElement::getAsJsonObject)
        .map(rail -> rail.get("nic").getAsString())
        .toList();
  }

  /** The bridge has an address, a link, and the first number. */
  @Test
  void aBridgeOfContainersIsNotTakenForTheNetwork() throws Exception {
    try (TwoHosts hosts = new TwoHosts()) {
      hosts.docker(0);
      hosts.docker(1);
      assertEquals(List.of("control"), nics(hosts.perf(folder, NOTHING, NOTHING)));
    }
  }

  @Test
  @Tag("long")
  void whoTakesItIsToldWhyThatLeadsNowhere() throws Exception {
    try (TwoHosts hosts = new TwoHosts()) {
      hosts.docker(0);
      hosts.docker(1);
      List<String> bridge = List.of("-d", "docker0");
      for (CommandProcess.Outcome side : hosts.perf(folder, bridge, bridge)) {
        assertEquals(1, side.code(), side.err());
        assertTrue(
            side.err().contains("rail 0 has the address 172.17.0.1 at both")
                && side.err().contains("docker0 172.17.0.1 in 172.17.0.0/16"),
            side.err());
      }
    }
  }

  /** The numbers of the interfaces differ, as they do between any two machines. */
  @Test
  @Tag("long")
  void addressesOfOneLinkReachThePeerOnIt() throws Exception {
    try (TwoHosts hosts = new TwoHosts()) {
      hosts.run(1, "ip link add before type veth peer name other");
      hosts.pair("eth0");
      List<String> link = List.of("-d", "eth0");
      assertEquals(List.of("eth0"), nics(hosts.perf(folder, link, link)));
    }
  }

  /** Both addresses are reached by the first cable, as the kernel's routes have it. */
  @Test
  @Tag("long")
  void aRailWhoseBytesLeaveByAnotherNicIsTold() throws Exception {
    try (TwoHosts hosts = new TwoHosts()) {
      hosts.pair("a0");
      hosts.pair("a1");
      hosts.address("a0", "10.92.0.1/24", "10.92.0.2/24");
      hosts.address("a1", "10.92.0.3/24", "10.92.0.4/24");
      List<String> options = List.of("-d", "a0,a1", "-b", "1M", "-e", "1M");
      List<CommandProcess.Outcome> said = hosts.perf(folder, options, options);
      assertEquals(List.of("a0", "a1"), nics(said));
      String all = said.getFirst().err() + said.getLast().err();
      assertTrue(
          all.contains("rail 1: NIC a1 sent ") && all.contains("ip rule add from 10.92.0."), all);
    }
  }

  /** The second NIC of the one is the first of the other, which has no more. */
  @Test
  @Tag("long")
  void whatBothHaveIsUsedAndTheRestIsTold() throws Exception {
    try (TwoHosts hosts = new TwoHosts()) {
      hosts.pair("a0");
      hosts.pair("a1");
      hosts.address("a0", "10.92.0.1/24", "10.94.0.2/24");
      hosts.address("a1", "10.93.0.1/24", "10.93.0.2/24");
      List<CommandProcess.Outcome> said =
          hosts.perf(folder, List.of("-d", "a1"), List.of("-d", "a0,a1"));
      assertEquals(List.of("a1"), nics(said));
      String connecting = said.getLast().err();
      assertTrue(
          connecting.contains("1 rail(s) are common to all")
              && connecting.contains("a0 10.92.0.1 in 10.92.0.0/24"),
          connecting);
      assertFalse(said.getFirst().err().contains("common to all"), said.getFirst().err());
    }
  }

  /** They find each other, but their NICs are in networks that are not joined. */
  @Test
  @Tag("long")
  void nicsThatDoNotReachEachOtherAreNamedWithBothEnds() throws Exception {
    try (TwoHosts hosts = new TwoHosts()) {
      hosts.pair("eth0");
      hosts.address("eth0", "10.91.0.1/24", "10.91.1.2/24");
      List<String> options = List.of("-d", "eth0", "--timeout", "3");
      String all = "";
      for (CommandProcess.Outcome side : hosts.perf(folder, options, options)) {
        assertEquals(1, side.code(), side.err());
        all += side.err();
      }
      assertTrue(
          all.contains("reach each other at " + TwoHosts.MEETING + ":")
              && all.contains("rail 0 eth0 10.91.0.1 in 10.91.0.0/24")
              && all.contains("rail 0 eth0 10.91.1.2 in 10.91.1.0/24"),
          all);
    }
  }
}
