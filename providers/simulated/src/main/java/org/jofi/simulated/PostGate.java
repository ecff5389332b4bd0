package org.jofi.simulated;

import java.util.List;
import java.util.function.Predicate;
import org.jofi.fabric.FabricErrno;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether an operation can be posted now, by free space, connections and faults. Under the
 * network's lock.
 */
final class PostGate {
  private static final long MILLI = 1_000_000;

  private final SimulatedEndpoint endpoint;
  private final Network network;
  private final Faults faults;
  private final int transmitDepth;
  private final int receiveDepth;
  private final boolean connects;

  PostGate(SimulatedEndpoint endpoint, SimulatedDomain domain) {
    this.endpoint = endpoint;
    this.network = domain.network();
    this.faults = network.faults();
    this.transmitDepth = domain.info().limits().transmitDepth();
    this.receiveDepth = domain.info().limits().receiveDepth();
    this.connects = domain.nic().profile().behaviour().connects();
  }

  /** 0 or {@code -EAGAIN} for a send, write or read. */
  int transmit(long peer, int context) {
    drawRare(endpoint.transmitQueue());
    boolean refused =
        faults.strikes(Fault.EAGAIN)
            || endpoint.inFlight() >= transmitDepth
            || !endpoint.transmitQueue().hasRoom()
            || (connects && !connected(endpoint.flows().to(peer)));
    return refused ? again(context) : 0;
  }

  /** 0 or {@code -EAGAIN} for a receive. */
  int receive(int context) {
    drawRare(endpoint.receiveQueue());
    boolean refused =
        faults.strikes(Fault.EAGAIN) || endpoint.receives().posted().size() >= receiveDepth;
    return refused ? again(context) : 0;
  }

  private int again(int context) {
    network.trace().record(TraceKind.REFUSED, endpoint.life().serial(), context, 0);
    return -FabricErrno.EAGAIN;
  }

  private boolean connected(Flow flow) {
    long now = network.clock().nanoTime();
    if (!flow.connecting) {
      flow.connecting = true;
      flow.connectedAt = now + 2 * flow.link.latencyNanos();
    }
    return now >= flow.connectedAt;
  }

  /** Draws faults of queues, NICs and hosts; a post is the occasion for them. */
  private void drawRare(SimulatedCompletionQueue queue) {
    if (faults.strikes(Fault.FULL_CQ)) {
      queue.fillFor(faults.between(Fault.FULL_CQ, 5_000, 100_000));
    }
    if (faults.threatens(Fault.STALLED_RAIL)) {
      SimulatedNic victim = any(network.nics(), SimulatedNic::isInUse, Fault.STALLED_RAIL);
      if (victim != null) {
        victim.stallFor(faults.between(Fault.STALLED_RAIL, MILLI, 20 * MILLI));
      }
    }
    if (faults.threatens(Fault.DEAD_RAIL)) {
      SimulatedNic victim = any(network.nics(), SimulatedNic::isInUse, Fault.DEAD_RAIL);
      if (victim != null) {
        victim.die();
      }
    }
    if (faults.threatens(Fault.DEAD_PEER)) {
      SimulatedHost victim = any(network.hosts(), host -> !host.isDead(), Fault.DEAD_PEER);
      if (victim != null) {
        victim.die();
      }
    }
  }

  /**
   * Draws one of the elements that the fault can affect, and counts the fault; null if there is
   * none.
   */
  private <T> @Nullable T any(List<T> list, Predicate<T> strikable, Fault fault) {
    List<T> victims = list.stream().filter(strikable).toList();
    if (victims.isEmpty()) {
      return null;
    }
    faults.count(fault);
    return victims.get((int) faults.between(fault, 0, victims.size() - 1));
  }
}
