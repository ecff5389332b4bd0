package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.Test;

/** Writes over the control rails, of whose arrival what follows them tells. */
class ControlTransferTest {
  private static final Failure SILENT =
      new Failure(FailureCause.PEER_LOST, 0, "fi_write", "the rail is silent");

  private static final long BYTES = 64;

  /** What a transfer told, in order. */
  private static final class Told implements TransferListener {
    final List<String> all = new ArrayList<>();

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

  /** A transfer over two rails, of which one has taken it; and what is known of it. */
  private static final class Taken implements AutoCloseable {
    final Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(2).open();
    final Host left = new Host(simulation, 0, 2, 2);
    final Host right = new Host(simulation, 1, 2, 2);
    final PeerRails rails = left.endpoint.controlTo(right.endpoint.addresses());
    final Told told = new Told();
    final long[] written = new long[2];
    final ControlTransfer transfer = new ControlTransfer(rails, written, told);
    final int rail;
    final Arena arena = Arena.ofConfined();

    Taken() {
      rails.succeeded(0);
      rails.succeeded(1);
      DataRegistration from = register(left);
      DataRegistration to = register(right);
      long address = to.range().address();
      transfer.begin(Transfer.Kind.WRITE, from.range().address(), from);
      for (int rail = 0; rail < 2; rail++) {
        transfer.remote(rail, to.remoteAddress(rail, address), to.key(rail));
      }
      transfer.place(Transfer.ANY_RAIL, 0, BYTES);
      while (!transfer.advance()) {
        progress();
      }
      rail = rails.out(0) > 0 ? 0 : 1;
    }

    private void progress() {
      if (left.progress() + right.progress() == 0) {
        simulation.idle();
      }
    }

    private DataRegistration register(Host host) {
      return host.endpoint.registrations.acquire(
          BufferRange.host(arena.allocate(BYTES)), Access.ALL);
    }

    /** It leaves. */
    void leave() {
      while (told.all.isEmpty()) {
        progress();
      }
    }

    @Override
    public void close() {
      // What was asked is answered.
      for (int round = 0; round < 1000; round++) {
        progress();
      }
      left.close();
      right.close();
      simulation.close();
      arena.close();
    }
  }

  /** Its owner has it back at once, and is told of the loss of its rail; who closes waits. */
  @Test
  void whatLeftIsDoneAndUncertainUntilItsRailIsGivenUp() {
    try (Taken of = new Taken()) {
      of.leave();
      assertEquals(List.of("completed"), of.told.all);
      assertEquals(1, of.rails.out(of.rail));
      assertFalse(of.rails.unanswered.areKnown(of.written));
      assertEquals(0, of.rails.unanswered.losses);
      of.rails.lose(of.rail, SILENT);
      assertEquals(1, of.rails.unanswered.losses);
      assertTrue(of.rails.unanswered.areKnown(of.written));
      assertEquals(0, of.rails.out(of.rail));
      assertTrue(of.transfer.advance(), "something is to be posted");
      assertEquals(List.of("completed"), of.told.all);
    }
  }

  /** What follows it over its rail arrived, and so did it. */
  @Test
  void whatFollowsItTellsThatItArrived() {
    try (Taken of = new Taken()) {
      of.leave();
      UnansweredMessages unanswered = of.rails.unanswered;
      long next = unanswered.posted(of.rail, true);
      assertFalse(unanswered.areKnown(of.written));
      unanswered.arrived(of.rail, next);
      assertTrue(unanswered.areKnown(of.written));
      assertEquals(0, of.rails.out(of.rail));
      of.rails.lose(1 - of.rail, SILENT);
      assertTrue(unanswered.areKnown(of.written));
    }
  }

  /** It was with the provider when its connection broke, which then says that it left. */
  @Test
  void whatLeavesAfterALossMayBeLostToo() {
    try (Taken of = new Taken()) {
      of.rails.lose(of.rail, SILENT);
      assertEquals(1, of.rails.unanswered.losses);
      of.leave();
      assertEquals(2, of.rails.unanswered.losses);
      assertTrue(of.rails.unanswered.areKnown(of.written));
    }
  }
}
