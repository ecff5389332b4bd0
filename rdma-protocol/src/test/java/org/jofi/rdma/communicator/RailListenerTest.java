package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jofi.counters.written.CounterType;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Comm;
import org.jofi.transport.RailChange;
import org.jofi.transport.RailStatus;
import org.junit.jupiter.api.Test;

class RailListenerTest {
  private static final int BYTES = 1 << 20;
  private static final int SILENT = 1;

  private final List<RailChange> told = new ArrayList<>();

  private static void transfer(SimulatedHosts hosts, Pair pair) {
    MemorySegment to = hosts.memory(BYTES, 100);
    MemorySegment from = hosts.memory(BYTES, 3);
    long receive = pair.receive().irecv(to, 0, BYTES, 1);
    long send = pair.send().isend(from, 0, BYTES, 1);
    assertEquals(BYTES, hosts.await(pair.receive(), receive));
    assertEquals(-1, from.mismatch(to));
    assertEquals(BYTES, hosts.await(pair.send(), send));
  }

  private List<RailStatus.State> dataRailStates() {
    return told.stream()
        .filter(change -> change.role() == RailChange.Role.DATA)
        .map(RailChange::state)
        .toList();
  }

  private static boolean isUp(Comm comm) {
    return comm.rails().get(SILENT).state() == RailStatus.State.UP;
  }

  @Test
  void aRailThatIsLostAndComesBackIsTold() {
    try (SimulatedHosts hosts =
        new SimulatedHosts(Profile.TCP, 1, 3, options -> options.railListener(told::add))) {
      Pair pair = hosts.connect();
      transfer(hosts, pair);
      assertEquals(List.of(), told);
      hosts.simulation.host(0).nic(SILENT).stall(Duration.ofSeconds(20));
      transfer(hosts, pair);
      hosts.await("its loss", () -> !dataRailStates().isEmpty());
      RailChange lost = told.getFirst();
      assertEquals(RailStatus.State.LOST, lost.state());
      assertEquals(SILENT, lost.rail());
      assertEquals(pair.send().rails().get(SILENT).nic(), lost.nic());
      assertEquals(List.of(2, 3), List.of(lost.railsUp(), lost.rails()));
      assertTrue(lost.cause().orElseThrow().detail().startsWith("silent for "), lost.toString());
      assertEquals(RailStatus.State.LOST, pair.send().rails().get(SILENT).state());
      hosts.await("its gauge", () -> railsWithoutPeer(pair) == 1);
      assertTrue(EndpointCountersTest.rails(pair.send(), CounterType.STRIPES_REPEATED) > 0);
      hosts.await("its return", () -> isUp(pair.send()) && isUp(pair.receive()));
      hosts.await("the news", () -> dataRailStates().getLast() == RailStatus.State.UP);
      transfer(hosts, pair);
      hosts.await("its gauge", () -> railsWithoutPeer(pair) == 0);
    }
  }

  private static long railsWithoutPeer(Pair pair) {
    return EndpointCountersTest.rails(pair.send(), CounterType.RAIL_PEERS_WITHOUT);
  }
}
