package org.jofi.rdma.driver;

import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.jofi.fabric.LinkTraffic;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.RailAddresses;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RailChange;
import org.jofi.transport.RailStatus;
import org.jspecify.annotations.Nullable;

/**
 * The way to a peer, which all connections to it share: the rails of each role, what is out on
 * them, which are silent, and how they come to be used again. Used with the endpoint's lock held.
 */
final class Peer {
  private static final RailUpdate.Kind[] KINDS = RailUpdate.Kind.values();

  private final long endpoint;
  private final PeerRails data;
  private final PeerRails control;

  /** Null with one rail, as the next two. */
  private final @Nullable DataFlow writes;

  private final @Nullable DataFlow reads;
  private final @Nullable RailClock clock;

  /** Null with one control rail. */
  private final @Nullable RailClock controlClock;

  private final RailClock.Load dataLoad = new DataLoad();
  private final RailClock.Load controlLoad = new ControlLoad();
  private final Fences fences = new Fences();
  private final DataStall stall;
  private final RailReturns returns;
  private final RailStates states;
  private final RailStates controlStates;

  private int connections;

  /** The epoch of the latest of this side's endpoints on each rail that the peer knows. */
  private final int[] acknowledged;

  /** The epoch before which the peer wants this side's endpoints of each rail to be closed. */
  private final int[] wanted;

  /** The rails that the peer uses no more, a bit each. */
  private int ended;

  /** The rails of which the peer is to be sent an update of each kind, a bit each. */
  private final int[] due = new int[KINDS.length];

  /** One that has a single data rail. */
  Peer(long endpoint, PeerRails data, PeerRails control, RailChanges changes) {
    this(endpoint, data, control, changes, null, null, null, null);
  }

  /**
   * One that has several.
   *
   * @param endpoint which one it is, whatever becomes of its rails
   * @param flow makes one that tells of each rail over which something arrived
   * @param boundNs how long a rail may be silent
   */
  Peer(
      long endpoint,
      PeerRails data,
      PeerRails control,
      RailChanges changes,
      Function<IntConsumer, DataFlow> flow,
      long boundNs) {
    PacketLoss loss = new PacketLoss(data.count(), rail -> traffic(data, control, rail));
    RailClock ofData = clock(data, control, boundNs, loss);
    this(
        endpoint,
        data,
        control,
        changes,
        flow.apply(ofData::answered),
        flow.apply(ofData::answered),
        ofData,
        control.count() == 1 ? null : clock(control, control, boundNs, loss));
  }

  private static RailClock clock(
      PeerRails rails, PeerRails control, long boundNs, PacketLoss loss) {
    return new RailClock(rails.count(), rail -> label(rails, rail, control), boundNs, loss);
  }

  /** Data and messages over one NIC: few messages may be lost, and what is lost concerns both. */
  private static Optional<LinkTraffic> traffic(PeerRails data, PeerRails control, int rail) {
    Optional<LinkTraffic> ofData = data.traffic(rail);
    return rail < control.count()
        ? ofData.flatMap(one -> control.traffic(rail).map(one::plus))
        : ofData;
  }

  private static long movedBytes(PeerRails rails, int rail) {
    return rails.traffic(rail).map(LinkTraffic::movedBytes).orElse(-1L);
  }

  private static String label(PeerRails rails, int rail, PeerRails control) {
    return "%s, to peer %d".formatted(rails.port(rail).label(), control.peer(0));
  }

  private Peer(
      long endpoint,
      PeerRails data,
      PeerRails control,
      RailChanges changes,
      @Nullable DataFlow writes,
      @Nullable DataFlow reads,
      @Nullable RailClock clock,
      @Nullable RailClock controlClock) {
    this.endpoint = endpoint;
    this.data = data;
    this.control = control;
    this.writes = writes;
    this.reads = reads;
    this.clock = clock;
    this.controlClock = controlClock;
    stall = DataStall.over(data, "peer %d".formatted(control.peer(0)));
    returns = new RailReturns(data.count());
    states =
        new RailStates(data, RailChange.Role.DATA, rail -> label(data, rail, control), changes);
    controlStates =
        new RailStates(
            control, RailChange.Role.CONTROL, rail -> label(control, rail, control), changes);
    acknowledged = new int[data.count()];
    Arrays.setAll(acknowledged, rail -> data.port(rail).epoch());
    wanted = new int[data.count()];
  }

  /** Which endpoint it is. */
  long endpoint() {
    return endpoint;
  }

  /** A connection leads to it. */
  void join() {
    connections++;
  }

  /** One does no more; whether none does. */
  boolean leave() {
    return --connections == 0;
  }

  /** Whether a connection leads to it. */
  boolean isConnected() {
    return connections > 0;
  }

  /** Whether something is on its way to it yet, or waited for. */
  boolean isBusy() {
    return control.isBusy() || !fences.isEmpty();
  }

  /** Nobody uses it any more. */
  void close() {
    data.close();
    control.close();
  }

  PeerRails data() {
    return data;
  }

  PeerRails control() {
    return control;
  }

  /** What goes to the peer; null with one rail. */
  @Nullable DataFlow writes() {
    return writes;
  }

  /** What is read from it; null with one rail. */
  @Nullable DataFlow reads() {
    return reads;
  }

  Fences fences() {
    return fences;
  }

  /** Whether what is out to it moves. */
  DataStall stall() {
    return stall;
  }

  /** Whether it cannot be reached any more. */
  boolean isLost() {
    return data.isLost() || control.isLost();
  }

  private final class DataLoad implements RailClock.Load {
    @Override
    public long out(int rail) {
      return (writes == null ? 0 : writes.out(rail)) + (reads == null ? 0 : reads.out(rail));
    }

    @Override
    public double expectedNs(int rail) {
      return (writes == null ? 0 : writes.expectedNs(rail))
          + (reads == null ? 0 : reads.expectedNs(rail));
    }

    @Override
    public boolean isUsable(int rail) {
      return data.isUsable(rail);
    }

    @Override
    public long moved(int rail) {
      return movedBytes(data, rail);
    }
  }

  private final class ControlLoad implements RailClock.Load {
    @Override
    public long out(int rail) {
      return (long) control.out(rail) * ControlMessage.BYTES;
    }

    @Override
    public double expectedNs(int rail) {
      return 0;
    }

    @Override
    public boolean isUsable(int rail) {
      return control.isUsable(rail);
    }

    @Override
    public long moved(int rail) {
      return movedBytes(control, rail);
    }
  }

  RailStatus status(int rail) {
    int usable = data.usable();
    return new RailStatus(
        rail,
        data.port(rail).nic(),
        data.state(rail),
        states.age(rail),
        data.cause(rail),
        writes == null ? RailStatus.Traffic.NONE : writes.traffic(rail, usable),
        reads == null ? RailStatus.Traffic.NONE : reads.traffic(rail, usable));
  }

  /** A message of the peer arrived. */
  void heard() {
    if (clock != null) {
      clock.heard();
    }
    if (controlClock != null) {
      controlClock.heard();
    }
  }

  /** Whether the peer is to be asked whether it is there; once. */
  boolean takeQuestion() {
    boolean ofData = clock != null && clock.takeQuestion();
    boolean ofControl = controlClock != null && controlClock.takeQuestion();
    return ofData || ofControl;
  }

  /**
   * Looks which rails are silent, and which are not in use.
   *
   * @param now time in which this side looked, in nanoseconds
   * @return the data rails that are silent: their endpoints are to be closed
   */
  int look(long now) {
    RailClock watch = clock;
    if (watch == null) {
      return 0;
    }
    data.look();
    control.look();
    lookAtControl(watch, now);
    suspect(watch);
    int silent = watch.look(dataLoad, now);
    for (int rail = 0; rail < data.count(); rail++) {
      if ((silent & 1 << rail) != 0) {
        data.lose(rail, watch.silence(rail));
      }
      if (isToReturn(rail)) {
        returns.outOfUse(rail, now, data.isAway(rail));
      } else {
        returns.inUse(rail, now);
      }
    }
    lookAtFences(now);
    states.look(now);
    controlStates.look(now);
    return silent;
  }

  /** What was found to be in doubt later than its end is, too. */
  private void lookAtFences(long now) {
    for (int rail = 0; rail < data.count(); rail++) {
      fences.passed(rail, data.epoch(rail));
      if (wanted[rail] != 0 && wanted[rail] <= data.port(rail).epoch()) {
        wanted[rail] = 0;
        due[RailUpdate.Kind.NOTICE.code()] |= 1 << rail;
      }
    }
    due[RailUpdate.Kind.NOTICE.code()] |= fences.look(now, isLost());
    due[RailUpdate.Kind.PROBE.code()] |= returns.takeDue();
  }

  private void lookAtControl(RailClock ofData, long now) {
    RailClock watch = controlClock;
    control.unanswered().look();
    int answered = control.takeAnswered();
    if (answered != 0) {
      ofData.heard();
    }
    if (watch == null) {
      return;
    }
    for (int rail = 0; rail < control.count(); rail++) {
      if ((answered & 1 << rail) != 0) {
        watch.answered(rail);
      }
    }
    for (int silent = watch.look(controlLoad, now); silent != 0; silent &= silent - 1) {
      int rail = Integer.numberOfTrailingZeros(silent);
      Failure why = watch.silence(rail);
      control.lose(rail, why);
      control.port(rail).moveOff(control, why);
    }
  }

  /**
   * Nothing more is given to a rail that is half way to being silent, or whose messages are. These
   * go over the same NIC: if they are given up, the rail is, too, once nothing is out on it. So
   * rails that die at once are found at once, and not one after the other, as each is given what
   * another one lost.
   */
  private void suspect(RailClock watch) {
    RailClock ofMessages = controlClock;
    if (ofMessages == null || control.count() != data.count()) {
      data.suspect(watch.aging());
      return;
    }
    int usable = data.usable();
    int mute = usable & ~control.usable();
    data.suspect(watch.aging() | ofMessages.aging() | mute);
    for (int left = mute == usable ? 0 : mute; left != 0; left &= left - 1) {
      int rail = Integer.numberOfTrailingZeros(left);
      if (dataLoad.out(rail) == 0) {
        control.cause(rail).ifPresent(why -> data.lose(rail, overSameNic(rail, why)));
      }
    }
  }

  private Failure overSameNic(int rail, Failure ofMessages) {
    return new Failure(
        ofMessages.cause(),
        ofMessages.errno(),
        label(data, rail, control),
        "messages over its NIC: " + ofMessages.detail());
  }

  /** Whether a rail is not used, and may be again. */
  private boolean isToReturn(int rail) {
    RailPort port = data.port(rail);
    boolean dataIsOut = !data.isUsable(rail) && !port.isRetired() && port.brokenBy() == null;
    int messages = controlOf(rail);
    return dataIsOut || (!control.isUsable(messages) && control.port(messages).brokenBy() == null);
  }

  /** The control rail over the NIC of a data rail; or the only one. */
  int controlOf(int rail) {
    return Math.min(rail, control.count() - 1);
  }

  /** Why a rail was found to be silent. */
  Failure silence(int rail) {
    RailClock watch = clock;
    if (watch == null) {
      throw new IllegalStateException("a single rail is never silent");
    }
    return watch.silence(rail);
  }

  /** What the peer is to be sent of a data rail now; null if nothing is due. */
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
    RailPort port = data.port(rail);
    return new RailUpdate(
        kind,
        rail,
        port.epoch(),
        port.brokenBy() != null,
        data.epoch(rail),
        fences.least(rail),
        port.address());
  }

  private Failure closedByPeer(int rail) {
    return new Failure(
        FailureCause.PEER_LOST, 0, label(data, rail, control), "the peer closed it for good");
  }

  /**
   * The peer told of its endpoint on a data rail.
   *
   * @return false if it names an endpoint of this side's that there never was
   * @throws IllegalArgumentException as {@link RailPort#peer}
   * @throws org.jofi.fabric.FabricException as {@link RailPort#peer}
   */
  boolean told(RailUpdate update) {
    int rail = update.rail();
    int epoch = data.port(rail).epoch();
    if (update.known() > epoch || update.least() > epoch + 1) {
      return false;
    }
    acknowledged[rail] = Math.max(acknowledged[rail], update.known());
    learn(rail, update.epoch(), update.address());
    if (update.ended()) {
      ended |= 1 << rail;
    }
    if ((ended & 1 << rail) != 0) {
      data.lose(rail, closedByPeer(rail));
    }
    wanted[rail] = Math.max(wanted[rail], update.least());
    switch (update.kind()) {
      case NOTICE -> {
        // It is answered once what it asks for is closed.
      }
      case PROBE -> due[RailUpdate.Kind.ANSWER.code()] |= 1 << rail;
      case ANSWER -> answered(rail);
    }
    return true;
  }

  /** It said on the way to another connection where its rails are. */
  void learn(RailAddresses addresses) {
    for (int rail = 0; rail < data.count(); rail++) {
      learn(rail, addresses.epochs().get(rail), addresses.data().get(rail));
    }
  }

  private void learn(int rail, int epoch, FabricAddress address) {
    if (epoch > data.epoch(rail)) {
      data.moved(rail, epoch, address);
      fences.passed(rail, epoch);
    }
  }

  /** Whether the peer waits for an end of this side's endpoint of a rail. */
  boolean wantsEnd(int rail) {
    return wanted[rail] > data.port(rail).epoch();
  }

  /** The rail works in both directions. */
  private void answered(int rail) {
    control.join(controlOf(rail));
    boolean joined =
        (ended & 1 << rail) == 0
            && acknowledged[rail] >= data.port(rail).epoch()
            && data.join(rail);
    if (joined && writes != null) {
      writes.restored(rail);
    }
    if (joined && reads != null) {
      reads.restored(rail);
    }
  }
}
