package org.jofi.simulated.engine;

import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.network.Faults;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.profile.ErrorCodes;
import org.jofi.simulated.registration.RegisteredMemory;

/**
 * Writes the data of transfers to memory, piece by piece, and reports the arrival after the last
 * piece.
 */
final class Landings {
  private final Network network;
  private final Engine engine;
  private final Faults faults;

  Landings(Network network, Engine engine) {
    this.network = network;
    this.engine = engine;
    this.faults = network.faults();
  }

  /** The data of a read has come back. */
  void returned(Transfer transfer) {
    if (transfer.dropped || transfer.initiator().nic().isDead()) {
      engine.failUnserved(transfer);
      return;
    }
    transfer.pieces.prepare(
        transfer.staged, transfer.localAddress, transfer.length, network.draw());
    transfer.landsAt = network.clock().nanoTime();
    engine.at(transfer.landsAt, Stage.LAND, transfer);
  }

  /** Writes the next pieces to memory. */
  void land(Transfer transfer) {
    if (!mayLand(transfer)) {
      engine.failUnserved(transfer);
      if (transfer.receive != null) {
        // The receive is matched, so it is too late to cancel it.
        transfer.receiveFails = true;
        announce(transfer);
      }
      return;
    }
    transfer.landed++;
    // For half of the data, count twice the batches, so that half of the pieces are written in the
    // end.
    transfer.pieces.land(transfer.landed, transfer.halve ? 2 * transfer.batches : transfer.batches);
    if (transfer.landed < transfer.batches) {
      // Keep to the planned times even if this batch was late, since other transfers wait for the
      // planned time of the last batch.
      transfer.landsAt += transfer.landStep;
      engine.at(transfer.landsAt, Stage.LAND, transfer);
    } else {
      landed(transfer);
    }
  }

  /** Whether memory and endpoint are still open: either may close at any time. */
  private static boolean mayLand(Transfer transfer) {
    if (transfer.kind == TransferKind.READ) {
      RegisteredMemory region = transfer.localRegion;
      return !transfer.dropped
          && !transfer.initiator().nic().isDead()
          && (region == null || region.isOpen());
    }
    QueuePair target = transfer.target;
    if (target == null || !target.life().isOpen() || target.nic().isDead()) {
      return false;
    }
    PostedReceive receive = transfer.receive;
    RegisteredMemory region = receive != null ? receive.region : transfer.targetRegion;
    return region == null || region.isOpen();
  }

  private void landed(Transfer transfer) {
    long now = network.clock().nanoTime();
    ErrorCodes errors = transfer.initiator().nic().profile().errors();
    boolean lost = transfer.failsAfterDelivery && transfer.halve;
    if ((transfer.kind.isMessage() || transfer.hasData) && !transfer.announced && !lost) {
      announce(transfer);
    }
    if (lost && transfer.kind.isMessage()) {
      // The receive must not stay matched for ever, so it fails with the send.
      transfer.receiveFails = true;
      announce(transfer);
    }
    long back = transfer.kind == TransferKind.READ ? 0 : transfer.way().link.latencyNanos();
    if (transfer.failsAfterDelivery) {
      engine.failAt(now + back, transfer, errors.other(), errors.otherProvider());
    } else {
      engine.completeAt(now + back, transfer);
    }
  }

  /** Reports the arrival to the target's program. */
  void announce(Transfer transfer) {
    QueuePair target = transfer.target;
    if (transfer.announced || target == null || !target.life().isOpen()) {
      return;
    }
    CompletionStore queue = target.receiveQueue();
    if (!queue.hasRoom()) {
      if (faults.strikes(Fault.CQ_OVERRUN)) {
        queue.overrun();
      }
      queue.await(transfer);
      return;
    }
    transfer.announced = true;
    PostedReceive receive = transfer.receive;
    if (receive == null) {
      queue.add(
          CompletionQueue.NO_CONTEXT,
          CompletionFlags.RMA | CompletionFlags.REMOTE_WRITE | CompletionFlags.REMOTE_CQ_DATA,
          transfer.length,
          transfer.data,
          0,
          0,
          0);
    } else {
      received(transfer, target, receive);
    }
  }

  private void received(Transfer transfer, QueuePair target, PostedReceive receive) {
    long flags =
        CompletionFlags.MSG
            | CompletionFlags.RECV
            | (transfer.hasData ? CompletionFlags.REMOTE_CQ_DATA : 0);
    long bytes = Math.min(transfer.length, receive.length);
    ErrorCodes errors = target.nic().profile().errors();
    int errno = 0;
    int providerErrno = 0;
    if (transfer.receiveFails) {
      errno = errors.other();
      providerErrno = errors.otherProvider();
      bytes = 0;
    } else if (transfer.length > receive.length) {
      errno = FabricErrno.ETRUNC;
      providerErrno = FabricErrno.ETRUNC;
    }
    target
        .receiveQueue()
        .add(
            receive.context,
            flags,
            bytes,
            transfer.data,
            errno,
            providerErrno,
            transfer.length - bytes);
    transfer.receive = null;
    target.receives().give(receive);
  }
}
