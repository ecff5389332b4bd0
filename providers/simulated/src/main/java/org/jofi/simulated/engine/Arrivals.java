package org.jofi.simulated.engine;

import org.jofi.fabric.Access;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryKind;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.memory.ProcessMemory;
import org.jofi.simulated.network.DeferredWrite;
import org.jofi.simulated.network.EndpointAddress;
import org.jofi.simulated.network.Faults;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.network.Nic;
import org.jofi.simulated.profile.ErrorCodes;
import org.jofi.simulated.profile.Link;
import org.jofi.simulated.registration.RegisteredMemory;
import org.jspecify.annotations.Nullable;

/**
 * What happens when a transfer arrives at the target's NIC: whether the NIC accepts it, and where
 * its data goes.
 */
final class Arrivals {
  private final Network network;
  private final Engine engine;
  private final Faults faults;

  Arrivals(Network network, Engine engine) {
    this.network = network;
    this.engine = engine;
    this.faults = network.faults();
  }

  void arrive(Transfer transfer) {
    long now = network.clock().nanoTime();
    Flow flow = transfer.way();
    Nic from = transfer.initiator().nic();
    Nic to = flow.address < 0 ? null : network.nic(EndpointAddress.nicOf(flow.address));
    ErrorCodes errors = from.profile().errors();
    if (to == null || to.isDead() || from.isDead()) {
      engine.failAt(
          now + from.profile().behaviour().peerTimeoutNanos(),
          transfer,
          errors.unreachable(),
          errors.unreachableProvider());
      return;
    }
    if (to.stalledUntil() > now) {
      engine.events().postpone(to.stalledUntil(), Stage.ARRIVE, transfer);
      return;
    }
    QueuePair target = engine.endpoint(flow.address);
    if (target == null) {
      engine.failAt(
          now + flow.link.latencyNanos(), transfer, errors.peerGone(), errors.peerGoneProvider());
      return;
    }
    if (to.profile().behaviour().completesOnTransmit() && faults.strikes(Fault.LOST_CONNECTION)) {
      engine.failAt(now, transfer, errors.badRegion(), errors.badRegionProvider());
      return;
    }
    transfer.target = target;
    if (to.profile().behaviour().targetMustPoll()) {
      transfer.scheduled++;
      target.inbox().addLast(transfer);
      target.receiveQueue().callForAttention();
      target.transmitQueue().callForAttention();
    } else {
      serve(transfer);
    }
  }

  /** Posts a receive. */
  void receive(
      QueuePair endpoint,
      long into,
      long bytes,
      @Nullable RegisteredMemory region,
      long peer,
      int context) {
    endpoint.life().history().add("fi_recv, slot", context);
    endpoint.receiveQueue().take(context);
    if (region != null) {
      region.use(true);
    }
    posted(endpoint, endpoint.receives().take(into, bytes, region, peer, context));
  }

  /** Cancels the receive with this context; returns false if none is posted. */
  boolean cancel(QueuePair endpoint, int context) {
    PostedReceive receive = endpoint.receives().cancel(context);
    if (receive == null) {
      return false;
    }
    endpoint.life().history().add("fi_cancel, slot", context);
    endpoint.receives().give(receive);
    endpoint
        .receiveQueue()
        .add(
            context,
            CompletionFlags.MSG | CompletionFlags.RECV,
            0,
            0,
            FabricErrno.ECANCELED,
            FabricErrno.ECANCELED,
            0);
    return true;
  }

  /** The target accepts a transfer. */
  void serve(Transfer transfer) {
    QueuePair target = transfer.target;
    if (target == null || !target.life().isOpen()) {
      ErrorCodes errors = transfer.initiator().nic().profile().errors();
      engine.failAt(
          network.clock().nanoTime(), transfer, errors.peerGone(), errors.peerGoneProvider());
      return;
    }
    switch (transfer.kind) {
      case SEND, INJECT -> message(transfer, target);
      case WRITE -> write(transfer, target);
      case READ -> read(transfer, target);
    }
  }

  /**
   * Called when a receive was posted: the first waiting message that matches it, if any, goes into
   * it.
   */
  private void posted(QueuePair endpoint, PostedReceive receive) {
    Transfer message = endpoint.receives().takeUnexpected(receive, endpoint.peers());
    if (message == null) {
      endpoint.receives().post(receive);
      return;
    }
    message.scheduled--;
    matched(message, receive);
  }

  private void message(Transfer transfer, QueuePair target) {
    acknowledge(transfer);
    PostedReceive receive = target.receives().match(sender(transfer, target));
    if (receive == null) {
      transfer.scheduled++;
      target.receives().keep(transfer);
    } else {
      matched(transfer, receive);
    }
  }

  private void matched(Transfer transfer, PostedReceive receive) {
    transfer.receive = receive;
    transfer.receiveFails = faults.strikes(Fault.COMPLETION_ERROR);
    long bytes = transfer.receiveFails ? 0 : Math.min(transfer.length, receive.length);
    transfer.pieces.prepare(transfer.staged, receive.address, bytes, network.draw());
    land(transfer, transfer.rest);
  }

  /**
   * Schedules the landing of its data: after this time, or later if it must not overtake other
   * data.
   */
  private void land(Transfer transfer, long rest) {
    Flow flow = transfer.way();
    long start = Math.max(network.clock().nanoTime() + rest, flow.landsAfter(transfer.kind));
    flow.willLand(transfer.kind, start + (transfer.batches - 1) * transfer.landStep);
    transfer.landsAt = start;
    engine.at(start, Stage.LAND, transfer);
  }

  private static long sender(Transfer message, QueuePair target) {
    return target.peers().numberOf(message.initiator().address());
  }

  private void write(Transfer transfer, QueuePair target) {
    RegisteredMemory region = region(transfer, target, Access.REMOTE_WRITE);
    if (region == null) {
      refuse(transfer);
      return;
    }
    transfer.targetRegion = region;
    long to = region.translate(transfer.remoteAddress);
    if (hasRoomElsewhere(region, to, transfer.length) && faults.strikes(Fault.MISPLACED_WRITE)) {
      to = elsewhere(region, to, transfer.length);
    }
    if (transfer.dropData) {
      transfer.pieces.prepare(transfer.staged, to, 0, 0);
    } else if (region.request().kind() != MemoryKind.HOST
        && faults.strikes(Fault.STALE_UNTIL_FLUSH)) {
      defer(transfer, target, region, to);
    } else {
      transfer.pieces.prepare(transfer.staged, to, transfer.length, network.draw());
    }
    if (transfer.early) {
      engine.completeAt(network.clock().nanoTime(), transfer);
      if (transfer.hasData) {
        engine.at(network.clock().nanoTime(), Stage.ANNOUNCE, transfer);
      }
    } else if (!transfer.delivery) {
      acknowledge(transfer);
    }
    land(transfer, transfer.early ? 50 * transfer.way().link.latencyNanos() : transfer.rest);
  }

  private void defer(Transfer transfer, QueuePair target, RegisteredMemory region, long to) {
    long block = network.staging().take(transfer.length);
    ProcessMemory.copy(transfer.staged, block, transfer.length);
    target.nic().defer(new DeferredWrite(region.life(), block, to, transfer.length));
    transfer.pieces.prepare(transfer.staged, to, 0, 0);
  }

  private void read(Transfer transfer, QueuePair target) {
    RegisteredMemory region = region(transfer, target, Access.REMOTE_READ);
    if (region == null) {
      refuse(transfer);
      return;
    }
    transfer.targetRegion = region;
    long now = network.clock().nanoTime();
    Flow flow = transfer.way();
    long start = Math.max(now, flow.landsAfter(transfer.kind));
    flow.willLand(transfer.kind, start);
    // In real time, the data that it must not overtake may be due but not landed yet, so it is
    // queued behind that.
    if (start > now || !network.clock().isVirtual()) {
      engine.at(start, Stage.SAMPLE, transfer);
    } else {
      sample(transfer);
    }
  }

  /** A read copies its data at the target and sends it back. */
  void sample(Transfer transfer) {
    QueuePair target = transfer.target;
    RegisteredMemory region = transfer.targetRegion;
    if (target == null || region == null || !reaches(target, region)) {
      engine.failUnserved(transfer);
      return;
    }
    Nic nic = target.nic();
    nic.flush();
    engine.transfers().stage(transfer, region.translate(transfer.remoteAddress), transfer.length);
    long now = network.clock().nanoTime();
    Link link = transfer.way().link;
    long freeAt = nic.occupy(now, link.serializationNanos(transfer.length));
    engine.at(freeAt + link.latencyNanos(), Stage.RETURN, transfer);
  }

  /**
   * Tells the initiator that the transfer has reached the target's NIC. Its data may not be in
   * memory yet.
   */
  private void acknowledge(Transfer transfer) {
    if (!transfer.failsAfterDelivery) {
      engine.completeAt(network.clock().nanoTime() + transfer.way().link.latencyNanos(), transfer);
    }
  }

  private void refuse(Transfer transfer) {
    ErrorCodes errors = transfer.initiator().nic().profile().errors();
    engine.failAt(
        network.clock().nanoTime() + transfer.way().link.latencyNanos(),
        transfer,
        errors.badRegion(),
        errors.badRegionProvider());
  }

  /** The region that an operation names, if the operation may use it now. */
  private static @Nullable RegisteredMemory region(
      Transfer transfer, QueuePair target, long access) {
    RegisteredMemory region = target.domain().region(transfer.key);
    boolean allowed =
        region != null
            && region.allows(target.life(), transfer.remoteAddress, transfer.length, access);
    return allowed ? region : null;
  }

  /** Whether a region may still be used by an operation that its target has accepted. */
  static boolean reaches(QueuePair target, RegisteredMemory region) {
    return target.life().isOpen() && !target.nic().isDead() && region.isOpen();
  }

  private static boolean hasRoomElsewhere(RegisteredMemory region, long to, long bytes) {
    return elsewhere(region, to, bytes) != to;
  }

  /** Another place in the region, 64 bytes further or back; the same place if there is no room. */
  private static long elsewhere(RegisteredMemory region, long to, long bytes) {
    if (bytes == 0) {
      return to;
    }
    if (region.covers(to + ProcessMemory.PIECE, bytes)) {
      return to + ProcessMemory.PIECE;
    }
    return region.covers(to - ProcessMemory.PIECE, bytes) ? to - ProcessMemory.PIECE : to;
  }
}
