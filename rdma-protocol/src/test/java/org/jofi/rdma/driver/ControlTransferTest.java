package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.Test;

/** Writes over the control rails, of whose arrival only the peer's acts tell. */
class ControlTransferTest {
  private static final Failure SILENT =
      new Failure(FailureCause.PEER_LOST, 0, "fi_write", "the rail is silent");

  private static final long BYTES = 64;

  /** What a transfer told, in order. */
  private static final class Told implements TransferListener {
    final List<String> all = new ArrayList<>();

    @Override
    public void left(Transfer transfer, int stripe) {
      all.add("left");
    }

    @Override
    public void completed(Transfer transfer, int stripe) {
      all.add("completed");
    }

    @Override
    public boolean failed(
        Transfer transfer, int stripe, Failure why, Certainty certainty, boolean railLeft) {
      all.add("failed");
      return railLeft;
    }

    @Override
    public void lost(Transfer transfer, int stripe, Failure why) {
      all.add("lost");
    }
  }

  /**
   * Its bytes arrived, and what would have told so went with the rail. The peer acts on them before
   * they go over another one.
   */
  @Test
  void whatThePeerShowsToHaveIsOverThoughItsRailWasGivenUp() {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open();
        Host left = new Host(simulation, 0, 2, 2);
        Host right = new Host(simulation, 1, 2, 2)) {
      PeerRails rails = left.endpoint.controlTo(right.endpoint.addresses());
      rails.succeeded(0);
      rails.succeeded(1);
      Told told = new Told();
      ControlTransfer transfer = new ControlTransfer(rails, told);
      transfer.begin(Transfer.Kind.WRITE, 4096, rail -> 0);
      transfer.part(0, 0, BYTES);
      transfer.mayBeToldLate();
      int rail = 0;
      transfer.flags(0, rail);
      transfer.taken(0, rail);
      transfer.completed(0, BYTES);
      assertEquals(List.of("left"), told.all);
      rails.lose(rail, SILENT);
      transfer.arrived(1, true);
      assertEquals(List.of("left", "completed"), told.all);
      assertTrue(transfer.advance(), "something is to be posted");
      assertEquals(List.of("left", "completed"), told.all);
      assertEquals(0, rails.out(rail));
    }
  }
}
