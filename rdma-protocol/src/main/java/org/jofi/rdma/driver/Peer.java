package org.jofi.rdma.driver;

import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.PeerControl;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.RailAddresses;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RailChange;
import org.jofi.transport.RailStatus;
import org.jspecify.annotations.Nullable;

/**
 * A peer, which all connections to it share: the rails of each role, what is out on them, what both
 * sides know of each other's, and whether it is heard. Used with the endpoint's lock held.
 */
final class Peer implements PeerControl {
  private static final long NEVER = -1;
  private static final RailUpdate.Kind[] KINDS = RailUpdate.Kind.values();

  final EndpointDriver driver;
  final long endpoint;
  private final String name;
  final PeerRails data;
  final PeerRails control;
  private final RailChanges changes;

  private final @Nullable PeerWatch watch;

  final Fences fences = new Fences();

  /** The rails of which it is to be sent an update of each kind, a bit each. */
  private final int[] due = new int[KINDS.length];

  private final DataStall stalledWrites;
  private final DataStall stalledReads;
  int connections;
  private long heard;

  /** What that was when its rails were looked at, when it was asked, and when it fell silent. */
  private long heardByRails;

  private long heardWhenAsked = NEVER;
  private long heardWhenSilent = NEVER;

  /** What was suspected of any process at the last look. */
  private long suspicion = NEVER;

  private boolean isQuestionDue;

  /** When it was asked for that last, or fell silent; and the last look. */
  private long askedAt;

  private long lookedAt;

  /** Makes it known on each rail of the endpoint; throws as {@link RailPort#peer}. */
  Peer(
      EndpointDriver driver,
      List<RailPort> ports,
      RailAddresses addresses,
      EndpointSettings settings) {
    this.driver = driver;
    changes = settings.changes();
    endpoint = addresses.endpoint();
    data = new PeerRails(ports, driver.outgoing, addresses.data(), true);
    for (int rail = 0; rail < data.count(); rail++) {
      data.rail(rail).epoch = addresses.epochs().get(rail);
    }
    try {
      control = driver.controlTo(addresses);
    } catch (RuntimeException e) {
      data.close();
      throw e;
    }
    name = "peer %d".formatted(control.number());
    watch =
        data.count() == 1
            ? null
            : new PeerWatch(data, control, name, settings, driver.railBoundNs());
    stalledWrites = DataStall.over(data, false, name);
    stalledReads = DataStall.over(data, true, name);
  }

  /** Whether no connection leads to it, and something is on its way to it yet, or waited for. */
  boolean isBusy() {
    return connections == 0 && (control.messages > 0 || !fences.isEmpty());
  }

  void close() {
    data.close();
    control.close();
  }

  /** What goes to the peer, or is read from it; null with one rail, and for own memory. */
  @Nullable DataFlow flow(Transfer.Kind kind) {
    return switch (kind) {
      case WRITE -> watch == null ? null : watch.writes;
      case READ -> watch == null ? null : watch.reads;
      case READ_OWN -> null;
    };
  }

  /** Whether that moves; null for own memory. */
  @Nullable DataStall stall(Transfer.Kind kind) {
    return switch (kind) {
      case WRITE -> stalledWrites;
      case READ -> stalledReads;
      case READ_OWN -> null;
    };
  }

  boolean isLost() {
    return data.isLost() || control.isLost();
  }

  RailStatus status(int rail) {
    PeerRail of = data.rail(rail);
    DataFlow writes = flow(Transfer.Kind.WRITE);
    DataFlow reads = flow(Transfer.Kind.READ);
    return new RailStatus(
        rail,
        of.port.nic(),
        of.state().shown(),
        of.age(),
        Optional.ofNullable(of.cause()),
        writes == null ? RailStatus.Traffic.NONE : writes.rates.traffic(rail, data.usable()),
        reads == null ? RailStatus.Traffic.NONE : reads.rates.traffic(rail, data.usable()));
  }

  @Override
  public void heard() {
    heard++;
  }

  @Override
  public void fellSilent() {
    heardWhenSilent = heard;
    askedAt = lookedAt;
  }

  @Override
  public boolean isSilent() {
    return heardWhenSilent == heard;
  }

  @Override
  public boolean takeQuestion() {
    boolean isDue = watch != null && watch.takeQuestion();
    if (isQuestionDue) {
      isQuestionDue = false;
      isDue = true;
      askedAt = lookedAt;
      heardWhenAsked = heard;
    }
    return isDue;
  }

  /**
   * Finds whether it is to be asked whether its process lives: when another endpoint suspects that
   * some does not, and from time to time while it is silent. It falls silent if it does not answer
   * in half the time that a close may take.
   */
  void lookWhetherAlive(long now, long suspected, long closeNs) {
    lookedAt = now;
    boolean isNew = suspicion != NEVER && suspicion != suspected;
    suspicion = suspected;
    if (!isSilent() && heardWhenAsked == heard && now - askedAt >= closeNs / 2) {
      fellSilent();
    }
    isQuestionDue |= isNew || (isSilent() && now - askedAt >= closeNs);
  }

  @Override
  public @Nullable Failure stall(long now, long boundNs) {
    Failure ofWrites = stalledWrites.look(now, boundNs);
    Failure ofReads = stalledReads.look(now, boundNs);
    return ofWrites == null ? ofReads : ofWrites;
  }

  @Override
  public @Nullable RailUpdate takeUpdate() {
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
        data.rail(rail).epoch,
        fences.least(rail),
        port.address());
  }

  @Override
  public boolean told(RailUpdate update) {
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
            restored(rail);
          }
        } catch (IllegalArgumentException | FabricException e) {
          return false;
        }
      }
    }
    if (wantsEnd(rail)) {
      driver.retirement.begin(
          rail, closed(rail, "the peer lost what it wrote over it, and asks for an end"));
    }
    return true;
  }

  @Override
  public void giveUpFences() {
    fences.giveUp();
  }

  @Override
  public BooleanSupplier cut(Failure why) {
    return driver.retirement.beginAll(why);
  }

  @Override
  public void sendOver(int rail, Packet packet, int lengthBytes) {
    ((OutgoingMessage) packet).sendOver(controlOf(rail), lengthBytes);
  }

  /** Looks what the peer is to be told, and which data rails are silent and have to close. */
  int look(long now) {
    if (watch == null) {
      return 0;
    }
    int silent = watch.look(now, heard != heardByRails);
    heardByRails = heard;
    for (int rail = 0; rail < data.count(); rail++) {
      PeerRail of = data.rail(rail);
      // What was found to be in doubt later than its end is over, too.
      fences.passed(rail, of.epoch);
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
    due[RailUpdate.Kind.NOTICE.code()] |= fences.look(now, isLost());
    changes.compare(data, RailChange.Role.DATA, name, now);
    changes.compare(control, RailChange.Role.CONTROL, name, now);
    return silent;
  }

  private boolean isToReturn(int rail) {
    return (data.rail(rail).mayReturn() && !data.rail(rail).port.isRetired())
        || control.rail(controlOf(rail)).mayReturn();
  }

  /** The control rail over the NIC of a data rail; or the only one. */
  private int controlOf(int rail) {
    return Math.min(rail, control.count() - 1);
  }

  /** Its endpoints are there, or were when that was said. */
  void learn(RailAddresses addresses) {
    for (int rail = 0; rail < data.count(); rail++) {
      learn(rail, addresses.epochs().get(rail), addresses.data().get(rail));
    }
  }

  private void learn(int rail, int epoch, FabricAddress address) {
    PeerRail of = data.rail(rail);
    if (epoch > of.epoch) {
      of.epoch = epoch;
      of.address = address;
      data.change(rail, PeerRail.Event.MOVED, closed(rail, "the peer closed it"));
      fences.passed(rail, epoch);
    }
  }

  private Failure closed(int rail, String how) {
    return new Failure(FailureCause.PEER_LOST, 0, data.rail(rail).label(name), how);
  }

  /** Whether it waits for an end of this side's endpoint of a rail. */
  boolean wantsEnd(int rail) {
    return data.rail(rail).wanted > data.rail(rail).port.closedBefore();
  }

  /** A data rail is used again: it may be faster or slower than before. */
  private void restored(int rail) {
    if (watch != null) {
      watch.writes.restored(rail);
      watch.reads.restored(rail);
    }
  }
}
