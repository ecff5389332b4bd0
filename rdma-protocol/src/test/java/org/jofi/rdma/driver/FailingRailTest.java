package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jofi.fabric.FabricErrno;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rails whose operations fail for a reason that does not say that the peer is out of reach. */
class FailingRailTest {
  private static final Failure WHY =
      new Failure(FailureCause.FABRIC, 5, "fi_write", "input/output");

  private static Host host(Simulation simulation, int index, int rails) {
    return new Host(simulation, index, rails, rails);
  }

  /** P15. */
  @Test
  void aRailThatKeepsFailingIsGivenUp() {
    try (Simulation simulation = Simulation.of(Profile.EFA).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      PeerRails rails = left.endpoint.peers.to(right.endpoint.addresses()).data;
      for (int failure = 0; failure < 3; failure++) {
        assertTrue(rails.isUsable(1), "given up after " + failure);
        assertEquals(0, rails.retry(1, WHY, 1));
      }
      assertFalse(rails.isUsable(1));
      assertTrue(rails.isUsable(0));
      assertEquals(WHY, rails.reason("a call"));
      for (int turn = 0; turn < 4; turn++) {
        assertEquals(0, rails.next(), "a rail that was given up is used");
      }
    }
  }

  @Test
  void aFailureNowAndThenIsForgotten() {
    try (Simulation simulation = Simulation.of(Profile.EFA).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      PeerRails rails = left.endpoint.peers.to(right.endpoint.addresses()).data;
      for (int failure = 0; failure < 100; failure++) {
        assertNotEquals(PeerRails.NONE, rails.retry(1, WHY, 1));
        for (int success = 0; success < 64; success++) {
          rails.succeeded(1);
        }
      }
      assertTrue(rails.isUsable(1));
    }
  }

  /** As many operations as were out fail then; it is one connection, and the rail works. */
  @Test
  void aFirstConnectionThatIsReplacedFailsOnce() {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      PeerRails rails = left.endpoint.peers.to(right.endpoint.addresses()).data;
      Failure broken = lost(FabricErrno.EPIPE);
      for (int time = 0; time < 2; time++) {
        for (int out = 0; out < 20; out++) {
          rails.failed(0, broken);
        }
        assertTrue(rails.isUsable(0), "given up after " + time);
        rails.look();
      }
      rails.failed(0, broken);
      assertFalse(rails.isUsable(0), "each of its connections breaks");
    }
  }

  /**
   * As when both sides connect at once, on all rails. One that breaks after it carried something,
   * or that is refused, is a peer that is gone.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aConnectionThatBreaksBeforeItIsOfUseIsMadeAgain(int count) {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(count).open();
        Host left = host(simulation, 0, count);
        Host right = host(simulation, 1, count)) {
      PeerRails rails = left.endpoint.peers.to(right.endpoint.addresses()).data;
      for (int rail = 0; rail < count; rail++) {
        assertNotEquals(PeerRails.NONE, rails.retry(rail, lost(FabricErrno.ENOTCONN), 1));
        assertTrue(rails.isUsable(rail));
      }
      rails.succeeded(0);
      assertEquals(count - 1, Integer.bitCount(usableAfter(rails, 0, FabricErrno.ENOTCONN)));
      assertEquals(0, usableAfter(rails, count - 1, FabricErrno.ECONNREFUSED) & 1 << (count - 1));
      assertTrue(rails.isLost());
    }
  }

  private static Failure lost(int errno) {
    return new Failure(FailureCause.PEER_LOST, errno, "fi_write", "the connection");
  }

  private static int usableAfter(PeerRails rails, int rail, int errno) {
    rails.failed(rail, lost(errno));
    return rails.usable();
  }

  /** A key that the peer withdrew fails every write that names it. */
  @Test
  void whatFailsAloneSaysNothingOfTheRail() {
    try (Simulation simulation = Simulation.of(Profile.EFA).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      PeerRails rails = left.endpoint.peers.to(right.endpoint.addresses()).data;
      for (int failure = 0; failure < 100; failure++) {
        assertEquals(0, rails.another(1, 1));
      }
      assertTrue(rails.isUsable(1));
    }
  }

  /**
   * The connection that a failure came from may have had a message in it that left, and of which
   * nobody asked whether it arrived. What follows goes through another, and is no word of it.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatLeftBeforeAFailureGoesAgain(boolean completed) {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      PeerRails rails = usedControl(left, right);
      Sent sent = new Sent();
      sent.byWay(left.endpoint, rails);
      while (rails.out(0) + rails.out(1) == 0) {
        left.progress();
      }
      if (completed) {
        pass(simulation, left, right);
        assertEquals(1, right.messages.size());
      }
      assertEquals(0, sent.times);
      int rail = rails.out(0) > 0 ? 0 : 1;
      assertEquals(1 - rail, rails.retry(rail, WHY, 1));
      assertTrue(rails.isUsable(rail));
      pass(simulation, left, right);
      assertEquals(2, right.messages.size());
      assertEquals(0, rails.out(rail));
      assertEquals(1, rails.out(1 - rail));
    }
  }

  /** Until something was done over a rail, each message asks. */
  @Test
  void theFirstMessageOverARailAsks() {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      PeerRails rails = left.endpoint.peers.to(right.endpoint.addresses()).control;
      Sent sent = new Sent();
      for (int message = 1; message <= 2 * rails.count(); message++) {
        sent.byWay(left.endpoint, rails);
        pass(simulation, left, right);
        assertEquals(Math.min(message, rails.count()), sent.times, "after " + message);
      }
      assertEquals(2 * rails.count(), right.messages.size());
    }
  }

  private static PeerRails usedControl(Host left, Host right) {
    PeerRails rails = left.endpoint.peers.to(right.endpoint.addresses()).control;
    for (int rail = 0; rail < rails.count(); rail++) {
      rails.succeeded(rail);
    }
    return rails;
  }

  /** A peer that is not there answers no question, and is not asked another. */
  @Test
  void aPeerIsAskedOnceAtATime() {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      PeerRails rails = usedControl(left, right);
      new Sent().byWay(left.endpoint, rails);
      int looks = 20;
      for (int look = 0; look < looks; look++) {
        pass(simulation, left);
        left.endpoint.peers.look(look * left.endpoint.railBoundNs() / 2 / looks);
      }
      assertEquals(2, rails.out(0) + rails.out(1), "the message and a question");
    }
  }

  /** A peer whose messages are given up on one of two rails, on which nothing was out. */
  private static Peer withMuteRail(Host left, Host right) {
    Peer peer = left.endpoint.peers.to(right.endpoint.addresses());
    peer.control.lose(1, new Failure(FailureCause.TIMED_OUT, 0, "rail 1", "silent"));
    peer.look(0);
    assertEquals(0b01, peer.data.usable(), "messages are not answered there");
    return peer;
  }

  /**
   * Where regions belong to endpoints, a peer does not open another one. Its messages still come
   * over that NIC, and what it said before is not taken for news.
   */
  @Test
  void whatThePeerClosedForGoodIsNotUsedAgain() {
    try (Simulation simulation = Simulation.of(Profile.CXI).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      Peer peer = withMuteRail(left, right);
      FabricAddress address = right.endpoint.data(1).address();
      for (boolean ended : new boolean[] {true, false, true}) {
        assertTrue(peer.told(answer(ended, address)));
        assertEquals(0b01, peer.data.usable(), "ended: " + ended);
        assertEquals(0b11, peer.control.usable());
      }
    }
  }

  private static RailUpdate answer(boolean ended, FabricAddress address) {
    return new RailUpdate(RailUpdate.Kind.ANSWER, 1, 0, ended, 0, 0, address);
  }

  /** No endpoint that was never open is known, or is to be closed. */
  @Test
  void endpointsThatNeverWereAreNoUpdate() {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      Peer peer = left.endpoint.peers.to(right.endpoint.addresses());
      FabricAddress address = right.endpoint.data(1).address();
      assertFalse(peer.told(new RailUpdate(RailUpdate.Kind.NOTICE, 1, 0, false, 1, 0, address)));
      assertFalse(peer.told(new RailUpdate(RailUpdate.Kind.NOTICE, 1, 0, false, 0, 2, address)));
      assertTrue(peer.told(new RailUpdate(RailUpdate.Kind.NOTICE, 1, 0, false, 0, 1, address)));
      assertTrue(peer.wantsEnd(1));
    }
  }

  /** Both come back together where it was not closed. */
  @Test
  void messagesThatAreAnsweredAgainBringTheirRailBack() {
    try (Simulation simulation = Simulation.of(Profile.CXI).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      Peer peer = withMuteRail(left, right);
      assertTrue(peer.told(answer(false, right.endpoint.data(1).address())));
      peer.look(1);
      assertEquals(0b11, peer.data.usable());
      assertEquals(0b11, peer.data.trusted());
    }
  }

  /** A short message whose sender does not wait for word. */
  private static final class Sent implements SentListener {
    private int times;

    void byWay(EndpointDriver from, PeerRails to) {
      Packet packet = from.outgoing.take(to);
      assertNotNull(packet);
      packet.send(Long.BYTES, this, 0);
    }

    @Override
    public void sent(long cookie, @Nullable Failure failure) {
      assertNull(failure);
      times++;
    }

    @Override
    public boolean mayBeToldLate() {
      return true;
    }
  }

  private static void pass(Simulation simulation, Host... hosts) {
    for (int round = 0; round < 100; round++) {
      for (Host host : hosts) {
        host.progress();
      }
      simulation.idle();
    }
  }

  /** Whoever gives up the last one loses the peer, who may well be there. */
  @Test
  void theLastRailIsKept() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open();
        Host left = host(simulation, 0, 1);
        Host right = host(simulation, 1, 1)) {
      PeerRails rails = left.endpoint.peers.to(right.endpoint.addresses()).data;
      for (int failure = 0; failure < 100; failure++) {
        assertEquals(0, rails.retry(0, WHY, 1));
      }
      assertTrue(rails.isUsable(0));
      assertFalse(rails.isLost());
    }
  }
}
