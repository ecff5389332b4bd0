package org.jofi.simulated.spi;

import java.util.List;
import java.util.function.Predicate;
import org.jofi.fabric.FabricErrno;
import org.jofi.simulated.engine.CompletionStore;
import org.jofi.simulated.engine.Engine;
import org.jofi.simulated.engine.Flows;
import org.jofi.simulated.engine.QueuePair;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.network.Faults;
import org.jofi.simulated.network.Host;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.network.Nic;
import org.jofi.simulated.registration.ProtectionDomain;
import org.jofi.simulated.trace.TraceKind;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether an operation can be posted now, by free space, connections and faults. Under the
 * network's lock.
 */
final class PostGate {
  private static final long MILLI = 1_000_000;

  private final QueuePair endpoint;
  private final Flows flows;
  private final Engine engine;
  private final Network network;
  private final Faults faults;
  private final int transmitDepth;
  private final int receiveDepth;
  private final boolean connects;

  PostGate(QueuePair endpoint, Flows flows, Engine engine, ProtectionDomain domain) {
    this.endpoint = endpoint;
    this.flows = flows;
    this.engine = engine;
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
            || (connects && !flows.to(peer).isConnected(network.clock().nanoTime()));
    return refused ? again(context) : 0;
  }

  /** 0 or {@code -EAGAIN} for a receive. */
  int receive(int context) {
    drawRare(endpoint.receiveQueue());
    boolean refused = faults.strikes(Fault.EAGAIN) || endpoint.receivesPosted() >= receiveDepth;
    return refused ? again(context) : 0;
  }

  private int again(int context) {
    network.trace().record(TraceKind.REFUSED, endpoint.life().serial(), context, 0);
    return -FabricErrno.EAGAIN;
  }

  /** Draws faults of queues, NICs and hosts; a post is the occasion for them. */
  private void drawRare(CompletionStore queue) {
    if (faults.strikes(Fault.FULL_CQ)) {
      queue.fillFor(faults.between(Fault.FULL_CQ, 5_000, 100_000));
    }
    if (faults.threatens(Fault.STALLED_RAIL)) {
      Nic victim = any(network.nics(), Nic::isInUse, Fault.STALLED_RAIL);
      if (victim != null) {
        victim.stallFor(faults.between(Fault.STALLED_RAIL, MILLI, 20 * MILLI));
      }
    }
    if (faults.threatens(Fault.DEAD_RAIL)) {
      Nic victim = any(network.nics(), Nic::isInUse, Fault.DEAD_RAIL);
      if (victim != null) {
        victim.die();
        engine.died();
      }
    }
    if (faults.threatens(Fault.DEAD_PEER)) {
      Host victim = any(network.hosts(), host -> !host.isDead(), Fault.DEAD_PEER);
      if (victim != null) {
        victim.die();
        engine.died();
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
