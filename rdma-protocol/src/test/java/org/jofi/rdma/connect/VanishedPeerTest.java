package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.lang.foreign.Arena;
import java.util.List;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers that nobody waits for any more, and what they may still write. */
class VanishedPeerTest {
  private static final long BYTES = 4096;
  private static final long MILLISECOND = 1_000_000;

  /**
   * What a killed process wrote may be in a socket, half read. The endpoints that would go on with
   * it are closed before memory is given back.
   */
  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void memoryIsHeldUntilNothingCanLand(int rails) {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(rails).open()) {
      Linked linked = Linked.of(simulation, arena, Profile.TCP, rails);
      Node survivor = linked.right;
      linked.pass(100 * MILLISECOND, linked.left, survivor);
      long receive = linked.receive(BYTES);
      linked.pass(100 * MILLISECOND, linked.left, survivor);
      List<FabricAddress> before = survivor.host.endpoint.addresses().data();
      linked.await("giving back", () -> !linked.receiving.usesMemory(receive), survivor);
      List<FabricAddress> after = survivor.host.endpoint.addresses().data();
      for (int rail = 0; rail < rails; rail++) {
        assertNotEquals(before.get(rail), after.get(rail), "rail " + rail);
      }
      assertNotNull(linked.receiving.failure());
      survivor.connections.abort(linked.receiving);
      linked.await("releasing", () -> survivor.connections.live() == 0, survivor);
      finish(linked);
    }
  }

  /** Where the peer can write nowhere, its end costs no rail. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void railsStayWhereNothingIsExposed(int rails) {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(rails).open()) {
      Linked linked = Linked.of(simulation, arena, Profile.TCP, rails);
      Node survivor = linked.right;
      linked.pass(100 * MILLISECOND, linked.left, survivor);
      List<FabricAddress> before = survivor.host.endpoint.addresses().data();
      survivor.connections.abort(linked.receiving);
      linked.await("releasing", () -> survivor.connections.live() == 0, survivor);
      assertEquals(before, survivor.host.endpoint.addresses().data());
      finish(linked);
    }
  }

  private static void finish(Linked linked) {
    linked.from.release();
    linked.to.release();
    linked.left.abort();
    linked.right.abort();
    assertFalse(linked.right.connections.live() > 0);
    assertEquals(List.of(), linked.simulation.openObjects());
  }
}
