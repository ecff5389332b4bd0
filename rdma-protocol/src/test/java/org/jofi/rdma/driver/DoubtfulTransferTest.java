package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.FabricErrno;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.Transfer.State;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transfers that failed, and of which nobody knows whether they land, or landed. */
class DoubtfulTransferTest {
  private static final Failure WHY =
      new Failure(FailureCause.FABRIC, 5, "fi_write", "input/output");

  private static Host host(Simulation simulation, int index, int rails) {
    return new Host(simulation, index, rails, rails);
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
      PeerRails rails = left.endpoint.peers.to(right.endpoint.addresses()).data;
      if (used) {
        rails.succeeded(0);
      }
      List<Ending> endings = new ArrayList<>();
      DataTransfer transfer = transfer(left, right, endings);
      transfer.begin(Transfer.Kind.WRITE, 4096, rail -> 0);
      transfer.failAlone();
      transfer.spread(64);
      transfer.bind(0, 64);
      transfer.failed(0, rails.rail(0).port, failed(FabricErrno.ECANCELED));
      Certainty certainty = used ? Certainty.UNKNOWN : Certainty.OVER;
      assertEquals(List.of(certainty), endings.stream().map(Ending::certainty).toList());
      assertTrue(endings.getFirst().railLeft());
    }
  }

  /** With several rails, too: over the same one, or behind a fence. */
  @ParameterizedTest
  @ValueSource(strings = {"kept", "given up", "broken again"})
  void whatWasInAFirstConnectionKeepsItsRail(String fate) {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(3).open();
        Host left = host(simulation, 0, 3);
        Host right = host(simulation, 1, 3)) {
      Peer peer = left.endpoint.peers.to(right.endpoint.addresses());
      PeerRails rails = peer.data;
      List<Ending> endings = new ArrayList<>();
      DataTransfer transfer = transfer(left, right, endings, true);
      transfer.begin(Transfer.Kind.WRITE, 4096, rail -> 0);
      transfer.spread(64);
      transfer.bind(1, 64);
      transfer.failed(0, rails.rail(1).port, failed(FabricErrno.ECANCELED));
      assertEquals(List.of(Certainty.OVER), endings.stream().map(Ending::certainty).toList());
      assertTrue(rails.isUsable(1), "it is given up");
      assertTrue(transfer.state(0) == State.TO_POST, "it is not repeated");
      transfer.moveLate();
      transfer.moveLate();
      assertEquals(rails.rail(1).port.label, transfer.railLabel(0));
      assertTrue(peer.fences.isEmpty());
      if (fate.equals("given up")) {
        rails.lose(1, WHY);
        transfer.post();
        assertFalse(peer.fences.isEmpty(), "it went over another");
        assertFalse(transfer.state(0) == State.TO_POST);
      } else if (fate.equals("broken again")) {
        transfer.failed(0, rails.rail(1).port, failed(FabricErrno.ECANCELED));
        assertFalse(peer.fences.isEmpty(), "it stays");
        assertFalse(rails.isUsable(1));
      }
      transfer.cancel();
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
      PeerRails rails = left.endpoint.peers.to(right.endpoint.addresses()).data;
      for (int rail = 0; rail < rails.count(); rail++) {
        rails.succeeded(rail);
      }
      List<Ending> endings = new ArrayList<>();
      DataTransfer transfer = transfer(left, right, endings);
      transfer.begin(Transfer.Kind.WRITE, 4096, rail -> 0);
      transfer.failAlone();
      assertFalse(transfer.mayLand(0, 0, WHY));
      assertTrue(rails.isUsable(0));
      Failure canceled =
          new Failure(FailureCause.FABRIC, FabricErrno.ECANCELED, "fi_write", "not connected");
      assertTrue(transfer.mayLand(0, 1, canceled));
      assertFalse(rails.isUsable(1));
      // No key makes a host unreachable.
      Failure unreachable =
          new Failure(FailureCause.PEER_LOST, FabricErrno.EHOSTUNREACH, "fi_write", "no route");
      assertTrue(transfer.mayLand(1, 2, unreachable));
      assertFalse(rails.isUsable(2));
      assertFalse(transfer.mayLand(1, 0, canceled));
      assertTrue(rails.isUsable(0));
      assertEquals(List.of(), endings);
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
      transfer.bind(0, 64);
      transfer.failed(0, left.endpoint.data(0), failed(FabricErrno.EIO));
      assertEquals(1, endings.size());
      Ending ending = endings.getFirst();
      assertEquals(Certainty.UNKNOWN, ending.certainty());
      assertEquals(profile.equals(Profile.TCP), ending.railLeft());
      assertEquals(!ending.railLeft(), ending.why().detail().contains("it may land yet"));
      assertTrue(left.endpoint.peers.to(right.endpoint.addresses()).data.isUsable(0));
    }
  }

  /** Though more is out on the others; of these it is the one with the least. */
  @Test
  void whatFailedGoesOverAnotherRail() {
    try (Simulation simulation = Simulation.of(Profile.EFA).nicsPerHost(3).open();
        Host left = host(simulation, 0, 3);
        Host right = host(simulation, 1, 3)) {
      List<Ending> endings = new ArrayList<>();
      DataTransfer busy = transfer(left, right, endings);
      busy.begin(Transfer.Kind.WRITE, 4096, rail -> 0);
      busy.spread(4096);
      busy.bind(0, 1024);
      busy.bind(2, 3072);
      DataTransfer transfer = transfer(left, right, endings);
      transfer.begin(Transfer.Kind.WRITE, 4096, rail -> 0);
      transfer.failAlone();
      transfer.spread(64);
      transfer.bind(1, 64);
      transfer.failed(0, left.endpoint.data(1), failed(FabricErrno.EIO));
      assertEquals(1, endings.size());
      assertTrue(endings.getFirst().railLeft());
      assertEquals(left.endpoint.data(0).label, transfer.railLabel(0));
    }
  }

  /** How a stripe failed. */
  private record Ending(Failure why, Certainty certainty, boolean railLeft) {}

  /** A transfer of which only the failures matter. */
  private static DataTransfer transfer(Host from, Host to, List<Ending> endings) {
    return transfer(from, to, endings, false);
  }

  private static DataTransfer transfer(
      Host from, Host to, List<Ending> endings, boolean isRepeated) {
    TransferListener listener =
        new TransferListener() {
          @Override
          public void completed(Transfer of, int stripe) {
            throw new AssertionError();
          }

          @Override
          public boolean failed(
              Transfer of, int stripe, Failure why, Certainty certainty, boolean railLeft) {
            endings.add(new Ending(why, certainty, railLeft));
            return isRepeated;
          }

          @Override
          public void lost(Transfer of, int stripe, Failure why) {
            throw new AssertionError(why.toString());
          }
        };
    return (DataTransfer) from.endpoint.path(to.endpoint.addresses()).overData(listener);
  }

  private static Failure failed(int errno) {
    return new Failure(FailureCause.FABRIC, errno, "fi_write", "of the provider");
  }
}
