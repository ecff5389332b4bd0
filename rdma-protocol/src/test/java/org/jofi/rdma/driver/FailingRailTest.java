package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.TransferListener;
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

  private static final TransferListener NOBODY =
      new TransferListener() {
        @Override
        public void completed(Transfer transfer, int stripe) {
          throw new AssertionError();
        }

        @Override
        public boolean failed(
            Transfer transfer, int stripe, Failure why, Certainty certainty, boolean railLeft) {
          throw new AssertionError(why.toString());
        }

        @Override
        public void lost(Transfer transfer, int stripe, Failure why) {
          throw new AssertionError(why.toString());
        }
      };

  private static Host host(Simulation simulation, int index, int rails) {
    return new Host(simulation, index, rails, rails);
  }

  /** P15. */
  @Test
  void aRailThatKeepsFailingIsGivenUp() {
    try (Simulation simulation = Simulation.of(Profile.EFA).nicsPerHost(2).open();
        Host left = host(simulation, 0, 2);
        Host right = host(simulation, 1, 2)) {
      PeerRails rails = left.endpoint.peers().to(right.endpoint.addresses()).data();
      for (int failure = 0; failure < 3; failure++) {
        assertTrue(rails.isUsable(1), "given up after " + failure);
        assertEquals(0, rails.retry(1, WHY, 1));
      }
      assertFalse(rails.isUsable(1));
      assertTrue(rails.isUsable(0));
      assertEquals(WHY, rails.failure());
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
      PeerRails rails = left.endpoint.peers().to(right.endpoint.addresses()).data();
      for (int failure = 0; failure < 100; failure++) {
        assertNotEquals(PeerRails.NONE, rails.retry(1, WHY, 1));
        for (int success = 0; success < 64; success++) {
          rails.succeeded(1);
        }
      }
      assertTrue(rails.isUsable(1));
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
      PeerRails rails = left.endpoint.peers().to(right.endpoint.addresses()).data();
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

  /**
   * What was in a first connection that the peer ended will not land any more, so it is posted
   * again, though it may have landed.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatWasInAFirstConnectionIsOver(boolean used) {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(1).open();
        Host left = host(simulation, 0, 1);
        Host right = host(simulation, 1, 1)) {
      PeerRails rails = left.endpoint.peers().to(right.endpoint.addresses()).data();
      if (used) {
        rails.succeeded(0);
      }
      List<Ending> endings = new ArrayList<>();
      DataTransfer transfer = transfer(left, right, endings);
      transfer.begin(Transfer.Kind.WRITE, 4096, rail -> 0);
      transfer.failAlone();
      transfer.spread(64);
      transfer.cut(0, 64);
      transfer.failed(0, rails.port(0), new Failed(FabricErrno.ECANCELED));
      Certainty certainty = used ? Certainty.UNKNOWN : Certainty.OVER;
      assertEquals(List.of(certainty), endings.stream().map(Ending::certainty).toList());
      assertTrue(endings.getFirst().railLeft());
    }
  }

  /** How a stripe failed. */
  private record Ending(Failure why, Certainty certainty, boolean railLeft) {}

  /** A transfer of which only the failures matter. */
  private static DataTransfer transfer(Host from, Host to, List<Ending> endings) {
    TransferListener listener =
        new TransferListener() {
          @Override
          public void completed(Transfer of, int stripe) {
            throw new AssertionError();
          }

          @Override
          public void bound(Transfer of, int stripe) {
            // Nobody else wants to know.
          }

          @Override
          public boolean failed(
              Transfer of, int stripe, Failure why, Certainty certainty, boolean railLeft) {
            endings.add(new Ending(why, certainty, railLeft));
            return false;
          }

          @Override
          public void lost(Transfer of, int stripe, Failure why) {
            throw new AssertionError(why.toString());
          }
        };
    return (DataTransfer) from.endpoint.path(to.endpoint.addresses()).overData(listener);
  }

  private record Failed(int errno) implements CompletionError {
    @Override
    public int context() {
      return 0;
    }

    @Override
    public long flags() {
      return CompletionFlags.WRITE;
    }

    @Override
    public long lengthBytes() {
      return 0;
    }

    @Override
    public long overflowBytes() {
      return 0;
    }

    @Override
    public long data() {
      return 0;
    }

    @Override
    public int providerErrno() {
      return 0;
    }

    @Override
    public String providerText() {
      return "of the provider";
    }

    @Override
    public FabricException toException() {
      throw new UnsupportedOperationException();
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
      PeerRails rails = left.endpoint.peers().to(right.endpoint.addresses()).data();
      for (int failure = 0; failure < 100; failure++) {
        assertEquals(0, rails.another(1, 1));
      }
      assertTrue(rails.isUsable(1));
    }
  }

  /**
   * Nobody cancels what is out: a connection broke. That may be for what was posted, so that the
   * last rail is not given up for it.
   */
  @Test
  void whatIsCanceledIsItsRailsAndMayLandYet() {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(3).open();
        Host left = host(simulation, 0, 3);
        Host right = host(simulation, 1, 3)) {
      PeerRails rails = left.endpoint.peers().to(right.endpoint.addresses()).data();
      DataTransfer transfer =
          (DataTransfer) left.endpoint.path(right.endpoint.addresses()).overData(NOBODY);
      transfer.begin(Transfer.Kind.WRITE, 4096, rail -> 0);
      transfer.failAlone();
      assertFalse(transfer.isInDoubt(0, 0, WHY));
      assertTrue(rails.isUsable(0));
      Failure canceled =
          new Failure(FailureCause.FABRIC, FabricErrno.ECANCELED, "fi_write", "not connected");
      assertTrue(transfer.isInDoubt(0, 1, canceled));
      assertFalse(rails.isUsable(1));
      // No key makes a host unreachable.
      Failure unreachable =
          new Failure(FailureCause.PEER_LOST, FabricErrno.EHOSTUNREACH, "fi_write", "no route");
      assertTrue(transfer.isInDoubt(1, 2, unreachable));
      assertFalse(rails.isUsable(2));
      assertFalse(transfer.isInDoubt(1, 0, canceled));
      assertTrue(rails.isUsable(0));
    }
  }

  /**
   * What failed over the only rail may land yet, after what is posted in its place, where a NIC
   * gives no order: after a receive was reported, into memory that was handed back. Sockets keep
   * the order of what goes to a peer.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void whatMayLandYetIsNotRepeatedOverTheOnlyRail(int index) {
    Profile profile = Profile.ALL.get(index);
    try (Simulation simulation = Simulation.of(profile).open();
        Host left = host(simulation, 0, 1);
        Host right = host(simulation, 1, 1)) {
      List<Ending> endings = new ArrayList<>();
      DataTransfer transfer = transfer(left, right, endings);
      transfer.begin(Transfer.Kind.WRITE, 4096, rail -> 0);
      transfer.spread(64);
      transfer.cut(0, 64);
      transfer.failed(0, left.endpoint.data(0), new Failed(FabricErrno.EIO));
      assertEquals(1, endings.size());
      Ending ending = endings.getFirst();
      assertEquals(Certainty.UNKNOWN, ending.certainty());
      assertEquals(profile.equals(Profile.TCP), ending.railLeft());
      assertEquals(!ending.railLeft(), ending.why().detail().contains("it may land yet"));
      assertTrue(left.endpoint.peers().to(right.endpoint.addresses()).data().isUsable(0));
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
      PeerRails rails = left.endpoint.peers().to(right.endpoint.addresses()).control();
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
    PeerRails rails = left.endpoint.peers().to(right.endpoint.addresses()).control();
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
        left.endpoint.lookAtRails(look * left.endpoint.railBoundNs() / 2 / looks);
      }
      assertEquals(2, rails.out(0) + rails.out(1), "the message and a question");
    }
  }

  /** A short message whose sender does not wait for word. */
  private static final class Sent implements SentListener {
    private int times;

    void byWay(EndpointDriver from, PeerRails to) {
      Packet packet = from.takePacket();
      assertNotNull(packet);
      from.send(packet, to, Long.BYTES, this, 0);
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
      PeerRails rails = left.endpoint.peers().to(right.endpoint.addresses()).data();
      for (int failure = 0; failure < 100; failure++) {
        assertEquals(0, rails.retry(0, WHY, 1));
      }
      assertTrue(rails.isUsable(0));
      assertFalse(rails.isLost());
    }
  }
}
