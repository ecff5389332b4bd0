package org.jofi.simulated.engine;

import org.jofi.fabric.FabricErrno;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.memory.ProcessMemory;
import org.jofi.simulated.network.Faults;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.network.Nic;
import org.jofi.simulated.profile.ErrorCodes;
import org.jofi.simulated.registration.RegisteredMemory;
import org.jofi.simulated.trace.TraceKind;

/**
 * What happens when the initiator's NIC starts transfers: when, in which order, and with which
 * outcome.
 */
final class Departures {
  /** What a post costs in virtual time until the NIC has it. */
  private static final long DOORBELL_NANOS = 100;

  /**
   * Number of equally likely ways to fail: after delivery, after half of it, and two without any
   * delivery.
   */
  private static final int FAILURES = 4;

  /** A transfer counts as having left when its arrival is at most this many latencies away. */
  private static final int BUFFERED = 16;

  private final Network network;
  private final Engine engine;
  private final Faults faults;

  Departures(Network network, Engine engine) {
    this.network = network;
    this.engine = engine;
    this.faults = network.faults();
  }

  void depart(Transfer transfer) {
    long now = network.clock().nanoTime();
    Nic nic = transfer.initiator().nic();
    Flow flow = transfer.way();
    if (flow.holds(transfer)) {
      transfer.scheduled++;
      flow.blocked.addLast(transfer);
      return;
    }
    if (nic.stalledUntil() > now && !transfer.dropped && !nic.isDead()) {
      engine.events().postpone(nic.stalledUntil(), Stage.DEPART, transfer);
      return;
    }
    if (transfer.released) {
      flow.blocked.removeFirst();
      transfer.scheduled--;
    }
    leave(transfer, nic, flow, now);
    release(flow);
  }

  /** Posts a transfer: its NIC takes it up after a while. */
  void start(Transfer transfer) {
    QueuePair source = transfer.initiator();
    if (transfer.injected) {
      engine.transfers().stage(transfer, transfer.localAddress, transfer.length);
    }
    transfer.postedAt = network.clock().nanoTime();
    source.life().history().add(transfer.kind.call, transfer.context);
    network
        .trace()
        .record(TraceKind.POST, transfer.serial, transfer.kind.number(), transfer.length);
    source.started();
    transfer.way().inFlight++;
    source.transmitQueue().reserve();
    if (transfer.context >= 0) {
      source.transmitQueue().take(transfer.context);
    }
    RegisteredMemory region = transfer.localRegion;
    if (region != null) {
      region.use(false);
    }
    engine.events().add(transfer.postedAt + DOORBELL_NANOS, Stage.DEPART, transfer);
  }

  /** Releases the first transfer that waits for a fence, if it need not wait any more. */
  void release(Flow flow) {
    Transfer first = flow.blocked.peekFirst();
    if (first == null || first.released || (first.fence && flow.departed > 0)) {
      return;
    }
    // It departs through an event like any other transfer, so that everything that happened
    // meanwhile is checked.
    first.released = true;
    engine.events().postpone(network.clock().nanoTime(), Stage.DEPART, first);
  }

  private void leave(Transfer transfer, Nic nic, Flow flow, long now) {
    ErrorCodes errors = nic.profile().errors();
    RegisteredMemory region = transfer.localRegion;
    if (transfer.dropped || nic.host().isDead()) {
      return;
    }
    if (nic.isDead()) {
      engine.failAt(
          now + flow.link.latencyNanos(),
          transfer,
          errors.unreachable(),
          errors.unreachableProvider());
    } else if (region != null && !region.isOpen()) {
      engine.failAt(now, transfer, FabricErrno.ECANCELED, FabricErrno.ECANCELED);
    } else {
      go(transfer, nic, flow, now);
    }
  }

  private void go(Transfer transfer, Nic nic, Flow flow, long now) {
    transfer.departed = true;
    flow.departed++;
    if (transfer.kind != TransferKind.READ && !transfer.injected) {
      engine.transfers().stage(transfer, transfer.localAddress, transfer.length);
    }
    long onWire = transfer.kind == TransferKind.READ ? 0 : transfer.length;
    nic.occupy(now, flow.link.serializationNanos(onWire));
    long arrival = arrival(transfer, nic, flow);
    if (!drawFailure(transfer, nic, arrival)) {
      return;
    }
    drawBreakage(transfer);
    engine.at(arrival, Stage.ARRIVE, transfer);
    if (nic.profile().behaviour().completesOnTransmit()
        && transfer.kind != TransferKind.READ
        && !transfer.delivery
        && !transfer.failsAfterDelivery) {
      // Transfers that have left wait in buffers, which are finite.
      long latency = flow.link.latencyNanos();
      long left = nic.freeAt() + network.draw(2 * latency);
      engine.completeAt(Math.max(left, arrival - BUFFERED * latency), transfer);
    }
  }

  /** When it reaches the target, according to faults and order. */
  private long arrival(Transfer transfer, Nic nic, Flow flow) {
    long latency = flow.link.latencyNanos();
    long time = nic.freeAt() + latency + network.draw(latency / 4 + 1);
    boolean late = false;
    if (faults.strikes(Fault.DELAY)) {
      time += latency * faults.between(Fault.DELAY, 10, 200);
    }
    if (faults.strikes(Fault.REORDER_BETWEEN_RAILS)) {
      time += latency * faults.between(Fault.REORDER_BETWEEN_RAILS, 2, 20);
    }
    if (faults.strikes(Fault.REORDER_WITHIN_RAIL)) {
      late = true;
      time += latency * faults.between(Fault.REORDER_WITHIN_RAIL, 1, 10);
    }
    time = Math.max(time, flow.arrivesAfter(transfer.kind));
    if (!late) {
      time = Math.max(time, flow.lastArrival());
    }
    transfer.batches = transfer.length <= ProcessMemory.PIECE ? 1 : 1 + (int) network.draw(4);
    transfer.landStep = network.draw(latency / 8 + 1);
    // The data may stay between the target's NIC and its memory for longer than the acknowledgement
    // takes.
    transfer.rest = network.draw(network.draw(4) == 0 ? 3 * latency : latency / 8 + 1);
    flow.willArrive(transfer.kind, time, late);
    return time;
  }

  /** Decides whether it fails; returns false if it fails and never arrives. */
  private boolean drawFailure(Transfer transfer, Nic nic, long arrival) {
    if (!faults.strikes(Fault.COMPLETION_ERROR)) {
      return true;
    }
    long how = faults.between(Fault.COMPLETION_ERROR, 0, FAILURES - 1);
    transfer.failsAfterDelivery = how < 2;
    transfer.halve = how == 1;
    if (!transfer.failsAfterDelivery) {
      ErrorCodes errors = nic.profile().errors();
      engine.failAt(arrival, transfer, errors.other(), errors.otherProvider());
    }
    return transfer.failsAfterDelivery;
  }

  private void drawBreakage(Transfer transfer) {
    if (transfer.kind != TransferKind.WRITE) {
      return;
    }
    transfer.dropData = faults.strikes(Fault.DROPPED_WRITE);
    transfer.halve |= transfer.length > ProcessMemory.PIECE && faults.strikes(Fault.PARTIAL_WRITE);
    transfer.early = faults.strikes(Fault.EARLY_COMPLETION);
  }
}
