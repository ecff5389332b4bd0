package org.jofi.simulated;

import org.jofi.fabric.FabricErrno;

/** The initiator's NIC takes transfers up: when, in what order, and how they will fare. */
final class Departures {
  /** Ways to fail: after delivery, after half of it, and, twice as likely, without any. */
  private static final int FAILURES = 4;

  /** How far a transfer may be from its arrival when it counts as having left, in latencies. */
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
    SimulatedEndpoint source = transfer.initiator();
    SimulatedNic nic = source.nic();
    ErrorCodes errors = nic.profile().errors();
    if (transfer.dropped || nic.host().isDead()) {
      return;
    }
    if (nic.isDead()) {
      engine.failAt(
          now + transfer.way().link.latencyNanos(),
          transfer,
          errors.unreachable(),
          errors.unreachableProvider());
      return;
    }
    if (nic.stalledUntil > now) {
      engine.at(nic.stalledUntil, Stage.DEPART, transfer);
      return;
    }
    RegisteredMemory region = transfer.localRegion;
    if (region != null && !region.isOpen()) {
      engine.failAt(now, transfer, FabricErrno.ECANCELED, FabricErrno.ECANCELED);
      return;
    }
    Flow flow = transfer.way();
    if (!flow.blocked.isEmpty() || (transfer.fence && flow.departed > 0)) {
      transfer.scheduled++;
      flow.blocked.addLast(transfer);
      return;
    }
    go(transfer, nic, flow, now);
  }

  /** Lets those go that waited for a fence. */
  void release(Flow flow) {
    while (flow.departed == 0 && !flow.blocked.isEmpty()) {
      Transfer first = flow.blocked.removeFirst();
      first.scheduled--;
      if (first.dropped) {
        engine.settle(first);
        continue;
      }
      SimulatedNic nic = first.initiator().nic();
      first.fence = false;
      go(first, nic, flow, network.clock().nanoTime());
      while (!flow.blocked.isEmpty() && !flow.blocked.getFirst().fence) {
        Transfer next = flow.blocked.removeFirst();
        next.scheduled--;
        if (next.dropped) {
          engine.settle(next);
        } else {
          go(next, nic, flow, network.clock().nanoTime());
        }
      }
    }
  }

  private void go(Transfer transfer, SimulatedNic nic, Flow flow, long now) {
    transfer.departed = true;
    flow.departed++;
    if (transfer.kind != TransferKind.READ && !transfer.injected) {
      network.transfers().stage(transfer, transfer.localAddress, transfer.length);
    }
    long onWire = transfer.kind == TransferKind.READ ? 0 : transfer.length;
    nic.freeAt = Math.max(now, nic.freeAt) + flow.link.serializationNanos(onWire);
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
      // What has left waits in buffers that are not endless.
      long latency = flow.link.latencyNanos();
      long left = nic.freeAt + network.draw(2 * latency);
      engine.completeAt(Math.max(left, arrival - BUFFERED * latency), transfer);
    }
  }

  /** When it reaches the target, with the faults and the order that this takes. */
  private long arrival(Transfer transfer, SimulatedNic nic, Flow flow) {
    long latency = flow.link.latencyNanos();
    long time = nic.freeAt + latency + network.draw(latency / 4 + 1);
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
    time = Math.max(time, flow.earliest(transfer.kind));
    if (!late) {
      time = Math.max(time, flow.lastArrival());
    }
    transfer.batches = transfer.length <= ProcessMemory.PIECE ? 1 : 1 + (int) network.draw(4);
    transfer.landStep = network.draw(latency / 8 + 1);
    // Data may rest behind the target's NIC for longer than the acknowledgement travels.
    transfer.rest = network.draw(network.draw(4) == 0 ? 3 * latency : latency / 8 + 1);
    long end = time + transfer.rest + transfer.landStep * transfer.batches;
    flow.willLand(transfer.kind, time, end, late);
    return time;
  }

  /** Decides whether it fails; false if it does without ever arriving. */
  private boolean drawFailure(Transfer transfer, SimulatedNic nic, long arrival) {
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
