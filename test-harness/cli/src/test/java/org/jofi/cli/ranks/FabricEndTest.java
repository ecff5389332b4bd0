package org.jofi.cli.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jofi.cli.ranks.FabricEnd.Rail;
import org.jofi.ranks.JoinOptions;
import org.jofi.ranks.Placement;
import org.jofi.ranks.RankServer;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.RanksException;
import org.jofi.transport.TransportOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FabricEndTest {
  private static final String OLD = "libfabric 1.17 from /usr/lib/libfabric.so.1";
  private static final String NEW = "libfabric 2.1 from /opt/lib/libfabric.so.1";
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** What serves them is opened by the test. */
  private static final JoinOptions ALONE = JoinOptions.defaults().withSecret("").withServing(false);

  private static FabricEnd end(String host, String fabric, String provider, Rail... rails) {
    return new FabricEnd(
        FabricEnd.JOFI, host, "kernel of " + host, "net", fabric, provider, List.of(rails));
  }

  private static Rail rail(String nic, String address) {
    return new Rail(nic, address, "10.0.0.0/24", 10_000, "1500");
  }

  private static String obstacle(FabricEnd one, FabricEnd other) {
    assertEquals(one.obstacle(other).isPresent(), other.obstacle(one).isPresent());
    return one.obstacle(other).orElse("");
  }

  @Test
  void whatIsTheSameOnTheWireFits() {
    FabricEnd one = end("a", OLD, "net", rail("eth0", "10.0.0.1"));
    FabricEnd other = end("b", NEW, "tcp", rail("eth0", "10.0.0.2"));
    assertEquals("", obstacle(one, other));
    FabricEnd layered = end("b", OLD, "tcp;ofi_rxm", rail("eth0", "10.0.0.2"));
    assertTrue(obstacle(other, layered).contains("tcp and tcp;ofi_rxm do not understand"));
    assertTrue(obstacle(one, layered).contains("net of libfabric 1 is tcp of libfabric 2"));
  }

  @Test
  void anotherReleaseIsRefused() {
    FabricEnd one = end("a", OLD, "net", rail("eth0", "10.0.0.1"));
    FabricEnd other =
        new FabricEnd(
            "jofi 0.2.0", "b", "kernel of b", "net", OLD, "net", List.of(rail("eth0", "10.0.0.2")));
    String words = obstacle(one, other);
    assertTrue(words.contains(FabricEnd.JOFI) && words.contains("jofi 0.2.0"), words);
  }

  @Test
  void sharedMemoryIsOfOneMachineAndOneVersion() {
    Rail shm = new Rail("shm", "", "", 0, "");
    FabricEnd one = end("a", OLD, "shm", shm);
    assertEquals("", obstacle(one, end("a", OLD.replace("usr", "opt"), "shm", shm)));
    assertTrue(obstacle(one, end("b", OLD, "shm", shm)).contains("one machine to another"));
    assertTrue(obstacle(one, end("a", NEW, "shm", shm)).contains("different formats"));
  }

  @Test
  void aRailMustNotLeadBackToItself() {
    FabricEnd one = end("a", OLD, "net", rail("docker0", "172.17.0.1"));
    FabricEnd same = end("b", OLD, "net", rail("docker0", "172.17.0.1"));
    assertTrue(obstacle(one, same).contains("rail 0 has the address 172.17.0.1 at both"));
    assertEquals("", obstacle(one, one), "one machine");
    FabricEnd nameless = end("b", OLD, "efa", rail("rdmap0", ""));
    assertEquals("", obstacle(nameless, end("c", OLD, "efa", rail("rdmap0", ""))));
  }

  @Test
  void bothAreToldWhatBothChose() throws Exception {
    FabricEnd[] ends = {
      end("node1", OLD, "net", rail("eth0", "10.0.0.1")), end("node2", OLD, "shm", rail("shm", ""))
    };
    try (ExecutorService threads = Executors.newCachedThreadPool();
        RankServer server =
            RankServer.open(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                2,
                ALONE,
                PATIENCE,
                RankServer.Watch.CONNECTIONS)) {
      List<Future<Object>> both =
          List.of(0, 1).stream()
              .map(rank -> threads.submit(() -> exchange(rank, ends[rank], server.port())))
              .toList();
      for (Future<Object> one : both) {
        ExecutionException failure = assertThrows(ExecutionException.class, one::get);
        String words = String.valueOf(failure.getCause().getMessage());
        assertTrue(words.startsWith("rank 0 and rank 1 cannot be connected: providers "), words);
        assertTrue(
            words.contains(
                "rank 0 at node1: "
                    + FabricEnd.JOFI
                    + ", "
                    + OLD
                    + ", provider net; rail 0 eth0 10.0.0.1 in 10.0.0.0/24, 10000 Mbit/s, MTU 1500"),
            words);
        assertTrue(words.contains(", " + OLD + ", provider shm; rail 0 shm"), words);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{}",
        "{'jofi':'jofi 0.0.9','fabric':'f','provider':'net','rails':[]}",
        "{'jofi':'j','host':'h','kernel':'k','network':'n','fabric':'f','provider':'net','rails':[]}",
        "{'jofi':'j','host':'h','kernel':'k','network':'n','fabric':'f','provider':'net','rails':[{}]}",
        "{'jofi':'j','host':'h','kernel':'k','network':'n','fabric':'f','provider':'a b',"
            + "'rails':[{'nic':'a','address':'','subnet':'','mtu':''}]}",
      })
  void whatIsNoEndIsNotUnderstood(String told) {
    byte[] bytes = told.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    String words =
        String.valueOf(
            assertThrows(RanksException.class, () -> FabricEnd.read(bytes)).getMessage());
    assertTrue(words.contains(FabricEnd.JOFI), words);
  }

  private static Object exchange(int rank, FabricEnd mine, int port) {
    Placement placement = new Placement(rank, 2, "127.0.0.1", port, "test");
    try (Ranks bootstrap = Ranks.join(placement, ALONE, PATIENCE)) {
      String words =
          FabricEnd.explain("no answer", placement.address(), bootstrap, List.of(mine, mine));
      assertTrue(words.startsWith("no answer"), words);
      assertTrue(words.contains("reach each other at 127.0.0.1:" + port + ", but not"), words);
      return FabricEnd.exchange(bootstrap, mine, PATIENCE);
    }
  }

  @Test
  void whatThisRankChoseIsTold() {
    try (RankDevice device =
        RankDevice.open(FabricChoice.of("sim:efa"), TransportOptions.builder(), "", 0)) {
      FabricEnd mine = FabricEnd.of(FabricChoice.of("sim:efa"), device);
      assertEquals(device.nics(), mine.rails().stream().map(Rail::nic).toList());
      assertTrue(!mine.kernel().isEmpty() && !mine.network().isEmpty(), mine.toString());
      assertEquals(Optional.empty(), mine.obstacle(mine));
    }
  }
}
