package org.jofi.rdma.driver;

import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.PeerControl;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.wire.RailAddresses;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.transport.Failure;
import org.jofi.transport.RailChange;
import org.jofi.transport.RailStatus;
import org.jspecify.annotations.Nullable;

/**
 * A peer, which all connections to it share: the rails of each role, what is out on them, what both
 * sides know of each other's, and whether it is heard. Used with the endpoint's lock held.
 */
final class Peer implements PeerControl {
  private static final long NEVER = -1;

  private final EndpointDriver driver;
  final long endpoint;
  private final String name;
  final PeerRails data;
  final PeerRails control;
  private final RailChanges changes;

  private final @Nullable PeerWatch watch;

  final RailEpochs epochs;
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
    data = PeerRails.to(ports, driver.outgoing, addresses.data(), true);
    for (int rail = 0; rail < data.count(); rail++) {
      data.rail(rail).address(addresses.epochs().get(rail), addresses.data().get(rail));
    }
    try {
      control = driver.controlTo(addresses);
    } catch (RuntimeException e) {
      data.close();
      throw e;
    }
    name = "peer %d".formatted(control.rail(0).number());
    watch =
        data.count() == 1
            ? null
            : new PeerWatch(data, control, name, settings, driver.railBoundNs());
    epochs = new RailEpochs(data, control, name, watch == null ? _ -> {} : watch::restored);
    stalledWrites = DataStall.over(data, false, name);
    stalledReads = DataStall.over(data, true, name);
  }

  /** Whether no connection leads to it, and something is on its way to it yet, or waited for. */
  boolean isBusy() {
    return connections == 0 && (control.isBusy() || !fences().isEmpty());
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

  Fences fences() {
    return epochs.fences;
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
        writes == null ? RailStatus.Traffic.NONE : writes.traffic(rail, data.usable()),
        reads == null ? RailStatus.Traffic.NONE : reads.traffic(rail, data.usable()));
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
    return epochs.takeUpdate();
  }

  @Override
  public boolean told(RailUpdate update) {
    boolean isSound = epochs.told(update);
    if (isSound && epochs.wantsEnd(update.rail())) {
      driver.retire(update.rail());
    }
    return isSound;
  }

  @Override
  public void giveUpFences() {
    fences().giveUp();
  }

  @Override
  public BooleanSupplier cut(Failure why) {
    return driver.cut(why);
  }

  @Override
  public void sendOver(int rail, Packet packet, int lengthBytes) {
    ((OutgoingMessage) packet).sendOver(epochs.controlOf(rail), lengthBytes);
  }

  /** Looks what the peer is to be told, and which data rails are silent and have to close. */
  int look(long now) {
    if (watch == null) {
      return 0;
    }
    int silent = watch.look(now, heard != heardByRails);
    heardByRails = heard;
    epochs.look(now, isLost());
    changes.compare(data, RailChange.Role.DATA, name, now);
    changes.compare(control, RailChange.Role.CONTROL, name, now);
    return silent;
  }
}
