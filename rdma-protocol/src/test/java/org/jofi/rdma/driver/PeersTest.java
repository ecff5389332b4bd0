package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jofi.rdma.nic.InsertedAddresses;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.RailAddresses;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who a peer is, and for how long it is one. */
class PeersTest {
  private static final Failure WHY = new Failure(FailureCause.PEER_LOST, 0, "a peer", "vanished");

  private static Host host(Simulation simulation, int index, int rails) {
    return new Host(simulation, index, rails, rails);
  }

  /** Closes all data rails of a host, and opens others. */
  private static void reopen(Simulation simulation, Host host) {
    BooleanSupplier closed = host.endpoint.retirement.beginAll(WHY);
    for (int round = 0; !closed.getAsBoolean(); round++) {
      assertTrue(round < 100, "they do not close");
      host.endpoint.peers.look(simulation.nanoTime());
      host.progress();
      simulation.idle();
    }
  }

  /** The next connection learns where its rails are, and shares all else with the first. */
  @Test
  void aPeerIsTheSameWhereverItsRailsAre() {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      RailAddresses before = right.endpoint.addresses();
      Peer peer = left.endpoint.peers.to(before);
      reopen(simulation, right);
      RailAddresses after = right.endpoint.addresses();
      assertNotEquals(before.data(), after.data());
      assertSame(peer, left.endpoint.peers.to(after));
      for (int rail = 0; rail < 2; rail++) {
        assertEquals(after.data().get(rail), peer.data.rail(rail).address);
        assertEquals(1, peer.data.rail(rail).epoch);
        assertFalse(peer.data.isUsable(rail), "what was posted to the old one is not told apart");
      }
      // Word that is late is no news.
      assertSame(peer, left.endpoint.peers.to(before));
      assertEquals(after.data().get(0), peer.data.rail(0).address);
    }
  }

  @Test
  void whoIsNotUsedIsForgotten() {
    forgets(1000);
  }

  /** More than may be used at once. */
  @Test
  @Tag("long")
  void howeverManyThereWere() {
    forgets(InsertedAddresses.MOST_PEERS + 100);
  }

  private static void forgets(int peers) {
    try (Simulation simulation = Simulation.of(Profile.TCP).open();
        Host left = host(simulation, 0, 1)) {
      for (int i = 0; i < peers; i++) {
        OperationSink path = left.endpoint.path(made(left, i));
        assertEquals(1, left.endpoint.peers.count());
        path.release();
        path.release();
        assertEquals(0, left.endpoint.peers.count());
      }
      assertTrue(left.endpoint.data(0).peers().known() <= InsertedAddresses.MOST_UNUSED + 1);
      assertTrue(left.endpoint.control(0).peers().known() <= InsertedAddresses.MOST_UNUSED);
    }
  }

  /** A peer that nobody ever was, with addresses that may be. */
  private static RailAddresses made(Host like, int number) {
    byte[] address = like.endpoint.data(0).address().bytes();
    ByteBuffer.wrap(address)
        .putShort(2, (short) (49_153 + number % 500))
        .putShort(6, (short) (number / 500));
    List<FabricAddress> one = List.of(FabricAddress.of(address));
    return new RailAddresses(1_000_000L + number, one, one, List.of(0));
  }

  /** The last word to it may still be on its way, and what may land there waited for. */
  @Test
  void whoIsWaitedForIsKept() {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      OperationSink path = left.endpoint.path(right.endpoint.addresses());
      Packet packet = path.takePacket();
      assertNotNull(packet);
      packet.send(Long.BYTES, SentListener.NOBODY, 0);
      path.release();
      assertEquals(1, left.endpoint.peers.count(), "a message to it is on its way");
      for (int round = 0; left.endpoint.peers.count() > 0; round++) {
        assertTrue(round < 1000, "it is never forgotten");
        left.progress();
        right.progress();
        left.endpoint.peers.look(simulation.nanoTime());
        simulation.idle();
      }
      assertEquals(1, right.messages.size());
    }
  }

  /** A second connection needs it as it is. */
  @Test
  void whoIsUsedByAnotherIsKept() {
    try (Simulation simulation = Simulation.of(Profile.TCP).open();
        Host left = host(simulation, 0, 1);
        Host right = host(simulation, 1, 1)) {
      OperationSink first = left.endpoint.path(right.endpoint.addresses());
      OperationSink second = left.endpoint.path(right.endpoint.addresses());
      first.release();
      assertEquals(1, left.endpoint.peers.count());
      assertEquals(first.peer(), second.peer());
      second.release();
      assertEquals(0, left.endpoint.peers.count());
    }
  }
}
