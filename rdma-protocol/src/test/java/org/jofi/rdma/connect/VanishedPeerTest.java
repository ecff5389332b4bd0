package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.Consumer;
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
    whereThePeerVanishes(
        rails,
        linked -> {
          Node survivor = linked.right;
          long receive = linked.receive(BYTES);
          linked.pass(100 * MILLISECOND, linked.left, survivor);
          List<FabricAddress> before = survivor.host.endpoint.addresses().data();
          linked.await("giving back", () -> !linked.receiving.usesMemory(receive), survivor);
          List<FabricAddress> after = survivor.host.endpoint.addresses().data();
          for (int rail = 0; rail < rails; rail++) {
            assertNotEquals(before.get(rail), after.get(rail), "rail " + rail);
          }
          assertNotNull(linked.receiving.failure());
          release(linked);
        });
  }

  /** Where the peer can write nowhere, its end costs no rail. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void railsStayWhereNothingIsExposed(int rails) {
    whereThePeerVanishes(
        rails,
        linked -> {
          List<FabricAddress> before = linked.right.host.endpoint.addresses().data();
          release(linked);
          assertEquals(before, linked.right.host.endpoint.addresses().data());
        });
  }

  /**
   * Runs a part with two hosts that are connected.
   *
   * @param part lets the left one poll no more, and releases the connection of the right one
   */
  private static void whereThePeerVanishes(int rails, Consumer<Linked> part) {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(rails).open()) {
      Linked linked = Linked.of(simulation, arena, Profile.TCP, rails);
      linked.pass(100 * MILLISECOND, linked.left, linked.right);
      part.accept(linked);
      linked.from.release();
      linked.to.release();
      linked.left.abort();
      linked.right.abort();
      assertFalse(linked.right.connections.live() > 0);
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  private static void release(Linked linked) {
    Node survivor = linked.right;
    survivor.connections.abort(linked.receiving);
    linked.await("releasing", () -> survivor.connections.live() == 0, survivor);
  }
}
