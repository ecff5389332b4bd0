package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.rdma.driver.AlteredProvider;
import org.jofi.rdma.driver.Host;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;
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
   * A provider may refuse to close an endpoint for as long as it likes. What the peer may write
   * into is held for as long, and nothing else: what the close of a connection gives back comes
   * back within twice its bound.
   */
  @Test
  void whoseEndpointRefusesToCloseHoldsOnlyWhatMayBeWritten() {
    AtomicBoolean refuses = new AtomicBoolean();
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open()) {
      Node survivor = new Node(refusing(simulation, refuses), true, 2, simulation::nanoTime);
      Linked linked =
          new Linked(simulation, arena, new Node(simulation, Profile.TCP, 0, 2), survivor);
      long receive = linked.receive(BYTES);
      linked.pass(100 * MILLISECOND, linked.left, survivor);
      refuses.set(true);
      long start = simulation.nanoTime();
      survivor.connections.close(linked.receiving);
      linked.await("releasing", () -> survivor.connections.live() == 0, survivor);
      long took = simulation.nanoTime() - start;
      assertTrue(took <= 2 * Node.REAL_BOUND_NS + 1_000 * MILLISECOND, "ms: " + took / MILLISECOND);
      assertTrue(linked.receiving.isReleased());
      assertTrue(linked.receiving.test(receive) < 0, "its request is not over");
      linked.pass(10_000 * MILLISECOND, survivor);
      assertTrue(linked.receiving.usesMemory(receive), "it may still be written into");
      refuses.set(false);
      linked.await("giving back", () -> !linked.receiving.usesMemory(receive), survivor);
      linked.from.release();
      linked.to.release();
      linked.left.abort();
      survivor.abort();
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  /** The same, until everything closes: then nothing can land. */
  @Test
  void whatIsHeldComesBackWithTheEndpoint() {
    AtomicBoolean refuses = new AtomicBoolean(true);
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open()) {
      Node survivor = new Node(refusing(simulation, refuses), true, 2, simulation::nanoTime);
      Linked linked =
          new Linked(simulation, arena, new Node(simulation, Profile.TCP, 0, 2), survivor);
      long receive = linked.receive(BYTES);
      linked.pass(100 * MILLISECOND, linked.left, survivor);
      survivor.connections.close(linked.receiving);
      linked.await("releasing", () -> survivor.connections.live() == 0, survivor);
      assertTrue(linked.receiving.usesMemory(receive));
      refuses.set(false);
      survivor.abortEndpoint();
      assertFalse(linked.receiving.usesMemory(receive));
      linked.from.release();
      linked.to.release();
      linked.left.abort();
      survivor.host.closeDevice();
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  /** A host whose data endpoints stay open while they refuse. */
  private static Host refusing(Simulation simulation, AtomicBoolean refuses) {
    FabricProvider provider =
        AlteredProvider.of(
            simulation.host(1).provider(),
            (call, _, real) -> {
              if (refuses.get()
                  && call.getName().equals("close")
                  && call.getDeclaringClass() == Endpoint.class) {
                throw new FabricException("fi_close", FabricErrno.EBUSY, "", "an endpoint");
              }
              return real.call();
            });
    return new Host(
        provider,
        provider.discover(FabricHints.any()).subList(0, 2),
        1,
        2,
        simulation::nanoTime,
        simulation::idle);
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
