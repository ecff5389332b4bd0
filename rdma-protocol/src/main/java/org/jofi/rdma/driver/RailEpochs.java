package org.jofi.rdma.driver;

import java.util.function.IntConsumer;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.RailAddresses;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * What this side and a peer know of each other's endpoints on the data rails, and tell each other:
 * which are open, which have to close since what went there is lost, and whether a link works
 * again. Used with the endpoint's lock held.
 */
final class RailEpochs {
  private static final RailUpdate.Kind[] KINDS = RailUpdate.Kind.values();

  private final PeerRails data;
  private final PeerRails control;
  private final String peer;
  private final IntConsumer restored;
  final Fences fences = new Fences();

  /** The rails of which the peer is to be sent an update of each kind, a bit each. */
  private final int[] due = new int[KINDS.length];

  RailEpochs(PeerRails data, PeerRails control, String peer, IntConsumer restored) {
    this.data = data;
    this.control = control;
    this.peer = peer;
    this.restored = restored;
  }

  /** Finds what the peer is to be told. */
  void look(long now, boolean isLost) {
    for (int rail = 0; rail < data.count(); rail++) {
      PeerRail of = data.rail(rail);
      // What was found to be in doubt later than its end is over, too.
      fences.passed(rail, of.epoch());
      if (of.wanted != 0 && !wantsEnd(rail)) {
        of.wanted = 0;
        due[RailUpdate.Kind.NOTICE.code()] |= 1 << rail;
      }
      if (!isToReturn(rail)) {
        of.probe.inUse(now);
      } else if (of.probe.isDue(now, of.state() == PeerRail.State.AWAY)) {
        due[RailUpdate.Kind.PROBE.code()] |= 1 << rail;
      }
    }
    due[RailUpdate.Kind.NOTICE.code()] |= fences.look(now, isLost);
  }

  private boolean isToReturn(int rail) {
    return (data.rail(rail).mayReturn() && !data.rail(rail).port.isRetired())
        || control.rail(controlOf(rail)).mayReturn();
  }

  /** The control rail over the NIC of a data rail; or the only one. */
  int controlOf(int rail) {
    return Math.min(rail, control.count() - 1);
  }

  @Nullable RailUpdate takeUpdate() {
    for (RailUpdate.Kind kind : KINDS) {
      int rails = due[kind.code()];
      if (rails != 0) {
        due[kind.code()] = rails & rails - 1;
        return update(kind, Integer.numberOfTrailingZeros(rails));
      }
    }
    return null;
  }

  private RailUpdate update(RailUpdate.Kind kind, int rail) {
    RailPort port = data.rail(rail).port;
    return new RailUpdate(
        kind,
        rail,
        port.closedBefore(),
        port.brokenBy() != null,
        data.rail(rail).epoch(),
        fences.least(rail),
        port.address());
  }

  boolean told(RailUpdate update) {
    int rail = update.rail();
    int epoch = rail < data.count() ? data.rail(rail).port.closedBefore() : 0;
    if (rail >= data.count() || update.known() > epoch || update.least() > epoch + 1) {
      return false;
    }
    PeerRail of = data.rail(rail);
    of.acknowledged = Math.max(of.acknowledged, update.known());
    learn(rail, update.epoch(), update.address());
    if (update.ended()) {
      data.change(rail, PeerRail.Event.ENDED, closed(rail, "the peer closed it for good"));
    }
    of.wanted = Math.max(of.wanted, update.least());
    switch (update.kind()) {
      case NOTICE -> {
        // It is answered once what it asks for is closed.
      }
      case PROBE -> due[RailUpdate.Kind.ANSWER.code()] |= 1 << rail;
      case ANSWER -> {
        // The link works in both directions.
        try {
          control.join(controlOf(rail));
          if (of.acknowledged >= epoch && data.join(rail)) {
            restored.accept(rail);
          }
        } catch (IllegalArgumentException | FabricException e) {
          return false;
        }
      }
    }
    return true;
  }

  void learn(RailAddresses addresses) {
    for (int rail = 0; rail < data.count(); rail++) {
      learn(rail, addresses.epochs().get(rail), addresses.data().get(rail));
    }
  }

  private void learn(int rail, int epoch, FabricAddress address) {
    PeerRail of = data.rail(rail);
    if (epoch > of.epoch()) {
      of.address(epoch, address);
      data.change(rail, PeerRail.Event.MOVED, closed(rail, "the peer closed it"));
      fences.passed(rail, epoch);
    }
  }

  private Failure closed(int rail, String how) {
    return new Failure(FailureCause.PEER_LOST, 0, data.rail(rail).label(peer), how);
  }

  /** Whether the peer waits for an end of this side's endpoint of a rail. */
  boolean wantsEnd(int rail) {
    return data.rail(rail).wanted > data.rail(rail).port.closedBefore();
  }
}
