package org.jofi.rdma.driver;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jofi.fabric.LinkTraffic;
import org.jofi.fabric.PostFlags;
import org.jofi.rdma.operation.Tasks;
import org.jofi.rdma.schedule.ControlRotation;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RailStatus;
import org.jspecify.annotations.Nullable;

/**
 * The rails of one role to a peer: where it is reached on each, and which of them are usable. A
 * rail is given up for a peer when an operation fails because the peer cannot be reached over it,
 * when it keeps failing and there is another, or when it is silent; and for all peers when its
 * completion queue breaks. It is <em>away</em> while this side opens another endpoint for it, of
 * which the peer has to know. Both may {@linkplain #join end}.
 */
public final class PeerRails {
  /** No rail is left. */
  public static final int NONE = -1;

  /** How often something is posted, at most. */
  public static final int TRIES = 4;

  /** What a failure weighs against successes: a third one is too much amid fewer than these. */
  private static final int FAILURE_WEIGHT = 64;

  private static final int MOST_WEIGHT = 2 * FAILURE_WEIGHT;

  private final RailPort[] ports;
  private final Tasks tasks;
  private final @Nullable FabricAddress[] addresses;
  private final long[] peers;

  /** What has these numbers; null on a rail that was not open yet. */
  private final InsertedAddresses.@Nullable Entry[] entries;

  /** Of this side's endpoints, in which the peer has those numbers. */
  private final int[] joined;

  /** Of the peer's endpoints, which have those addresses. */
  private final int[] epochs;

  private final int[] failures;
  private final int[] messagesOut;
  private final int[] writesOut;
  private final ControlRotation rotation;
  private final boolean seesArrivals;
  private final UnansweredMessages unanswered;
  private int answered;

  /** Over which anything succeeded, a bit each. */
  private int carried;

  /** Whose connection was replaced since the last look, a bit each. */
  private int replaced;

  /** Messages that are to go over these rails, or went and have not arrived. */
  private int messages;

  private int unusable;
  private int away;
  private int suspected;
  private final Map<Integer, Failure> lostBy = new HashMap<>(0);
  private @Nullable Failure failure;

  private PeerRails(List<RailPort> ports, OutgoingMessages messages) {
    int count = ports.size();
    this.ports = ports.toArray(RailPort[]::new);
    tasks = messages.tasks();
    addresses = new @Nullable FabricAddress[count];
    peers = new long[count];
    entries = new InsertedAddresses.@Nullable Entry[count];
    joined = new int[count];
    epochs = new int[count];
    failures = new int[count];
    messagesOut = new int[count];
    writesOut = new int[count];
    seesArrivals = ports.get(0).rail().domain().info().traits().completionMeansDelivered();
    unanswered = new UnansweredMessages(this, messages, count == 1 || seesArrivals);
    rotation = new ControlRotation(count);
    for (int rail = 0; rail < count; rail++) {
      joined[rail] = this.ports[rail].epoch();
    }
  }

  /**
   * A rail to an address that may not be a peer's.
   *
   * @param number of the address, on that rail
   */
  static PeerRails toStranger(RailPort port, OutgoingMessages messages, long number) {
    PeerRails rails = new PeerRails(List.of(port), messages);
    rails.peers[0] = number;
    return rails.connected();
  }

  /** The rail of a handshake, or one over which there was one; it is not fresh. */
  PeerRails connected() {
    carried = (1 << peers.length) - 1;
    return this;
  }

  /**
   * The rails to a peer whose addresses are known.
   *
   * @param ports rails of one role, at least as many as there are addresses
   * @param messages the endpoint's
   * @param epochs of the peer's endpoints with these addresses
   * @throws IllegalArgumentException as {@link RailPort#peer}
   * @throws org.jofi.fabric.FabricException as {@link RailPort#peer}
   */
  static PeerRails to(
      List<RailPort> ports,
      OutgoingMessages messages,
      List<FabricAddress> addresses,
      List<Integer> epochs) {
    PeerRails rails = to(ports, messages, addresses);
    Arrays.setAll(rails.epochs, epochs::get);
    return rails;
  }

  /** The same, of rails whose endpoints stay. */
  static PeerRails to(
      List<RailPort> ports, OutgoingMessages messages, List<FabricAddress> addresses) {
    PeerRails rails = new PeerRails(ports, messages);
    for (int rail = 0; rail < rails.count(); rail++) {
      rails.addresses[rail] = addresses.get(rail);
    }
    try {
      for (int rail = 0; rail < rails.count(); rail++) {
        if (ports.get(rail).isRetired()) {
          rails.leave(rail);
        } else {
          rails.insert(rail);
        }
      }
      return rails;
    } catch (RuntimeException e) {
      rails.close();
      throw e;
    }
  }

  private void insert(int rail) {
    InsertedAddresses.Entry inserted = ports[rail].peers().peer(address(rail));
    InsertedAddresses.Entry before = entries[rail];
    if (before != null) {
      before.endUse();
    }
    entries[rail] = inserted;
    peers[rail] = inserted.number();
  }

  /** Nobody uses them any more. */
  void close() {
    for (int rail = 0; rail < entries.length; rail++) {
      InsertedAddresses.Entry entry = entries[rail];
      if (entry != null) {
        entry.endUse();
        entries[rail] = null;
      }
    }
  }

  /** A message is to go over one of them. */
  void expect() {
    messages++;
  }

  /** A message that was expected arrived, or will not. */
  void finished() {
    messages--;
  }

  /** Whether a message is on its way, or is to be. */
  boolean isBusy() {
    return messages > 0;
  }

  /** Where what waits is queued. */
  Tasks tasks() {
    return tasks;
  }

  /** How many there are, usable or not. */
  public int count() {
    return peers.length;
  }

  /** A rail. */
  public RailPort port(int rail) {
    return ports[rail];
  }

  /** The peer's number on a rail. */
  public long peer(int rail) {
    return peers[rail];
  }

  /** Whether a rail is to be used. */
  public boolean isUsable(int rail) {
    if ((unusable & 1 << rail) != 0) {
      return false;
    }
    if (joined[rail] != ports[rail].epoch() || ports[rail].isRetired()) {
      leave(rail);
      return false;
    }
    Failure broken = ports[rail].brokenBy();
    if (broken != null) {
      lose(rail, broken);
      return false;
    }
    return true;
  }

  /** The rails that are to be used, a bit each. */
  int usable() {
    int usable = 0;
    for (int rail = 0; rail < peers.length; rail++) {
      usable |= isUsable(rail) ? 1 << rail : 0;
    }
    return usable;
  }

  /**
   * The rails to which anything is given, a bit each: the usable ones but for those that are
   * {@linkplain #suspect suspected}, or all of them if there are no others.
   */
  int trusted() {
    int usable = usable();
    int trusted = usable & ~suspected;
    return trusted == 0 ? usable : trusted;
  }

  /** These rails are to be used only if there are no others, a bit each. */
  void suspect(int rails) {
    suspected = rails;
  }

  private void leave(int rail) {
    unusable |= 1 << rail;
    away |= 1 << rail;
    rotation.exclude(rail);
    unanswered.lost(rail);
  }

  /** Whether a rail is not usable because one of the sides opened another endpoint for it. */
  boolean isAway(int rail) {
    return !isUsable(rail) && (away & 1 << rail) != 0;
  }

  /** Whether a rail is away, and will be usable again if its link works. */
  boolean mayReturn() {
    for (int rail = 0; away != 0 && rail < peers.length; rail++) {
      Failure broken = ports[rail].brokenBy();
      if ((away & 1 << rail) != 0 && broken != null) {
        lose(rail, broken);
      }
    }
    return away != 0;
  }

  /** Where the peer is reached on a rail. */
  FabricAddress address(int rail) {
    FabricAddress address = addresses[rail];
    if (address == null) {
      throw new IllegalStateException("a stranger's address is not kept");
    }
    return address;
  }

  /** What was moved over a rail until now; empty if unknown. */
  Optional<LinkTraffic> traffic(int rail) {
    return ports[rail].traffic(address(rail));
  }

  /** Which of the peer's endpoints on a rail is reached there: the latest that this side knows. */
  int epoch(int rail) {
    return epochs[rail];
  }

  /** The peer opened another endpoint, at that address; the rail has to {@link #join} anew. */
  void moved(int rail, int epoch, FabricAddress address) {
    epochs[rail] = epoch;
    addresses[rail] = address;
    if (isUsable(rail)) {
      lose(rail, new Failure(FailureCause.PEER_LOST, 0, ports[rail].label(), "the peer closed it"));
      // Nothing is known against its link: who reopens all of its rails is not lost.
      away |= 1 << rail;
    }
  }

  /**
   * A rail is usable from now on, if it can be: both sides know of each other's endpoint.
   *
   * @return whether it is
   * @throws IllegalArgumentException as {@link RailPort#peer}
   * @throws org.jofi.fabric.FabricException as {@link RailPort#peer}
   */
  boolean join(int rail) {
    RailPort port = ports[rail];
    if (isUsable(rail)) {
      return true;
    }
    if (port.isRetired() || port.brokenBy() != null) {
      return false;
    }
    insert(rail);
    joined[rail] = port.epoch();
    unusable &= ~(1 << rail);
    away &= ~(1 << rail);
    failures[rail] = 0;
    carried &= ~(1 << rail);
    lostBy.remove(rail);
    if (unusable == 0) {
      failure = null;
    }
    rotation.restore(rail);
    return true;
  }

  /** The usable rail whose turn it is, or {@link #NONE}. */
  public int next() {
    int rail = rotation.next();
    while (rail >= 0 && !isUsable(rail)) {
      rail = rotation.next();
    }
    return rail < 0 ? NONE : rail;
  }

  /**
   * The usable rail on which the fewest messages are out, or {@link #NONE}; that one if it is among
   * them. On a silent rail, messages stay out where they do not count as sent once they left.
   */
  int leastBusy(int first) {
    int best = NONE;
    for (int i = 0; i < peers.length && first != NONE; i++) {
      int rail = (first + i) % peers.length;
      if (isUsable(rail) && (best == NONE || messagesOut[rail] < messagesOut[best])) {
        best = rail;
      }
    }
    return best;
  }

  /**
   * How operations are posted over a rail, {@link PostFlags}. With several rails, what is out on
   * one of them may have to go over another: so it counts as done only when the peer has it. A
   * plain one may as soon as it left, and over sockets does. So do the first ones over any rail,
   * whose connection may go.
   */
  long flags(int rail) {
    return !seesArrivals && (peers.length > 1 || isFresh(rail))
        ? PostFlags.DELIVERY_COMPLETE
        : PostFlags.NONE;
  }

  /** Whether nothing was done over a rail yet. */
  boolean isFresh(int rail) {
    return (carried & 1 << rail) == 0;
  }

  /**
   * Whether a failure is that of a socket which went in favour of another. Where both sides connect
   * at once, one of the two goes, and not always before it is used: libfabric's tcp providers
   * compare the peer's process with that of an older connection, which took the same place.
   */
  boolean wasReplaced(int rail, Failure why) {
    return !seesArrivals && isFresh(rail) && Failures.isOfBrokenConnection(why);
  }

  /** What left, and of whose arrival nothing is known yet. */
  UnansweredMessages unanswered() {
    return unanswered;
  }

  /**
   * Messages, and writes that are counted, that are out on a rail, or left and may not be there.
   */
  int out(int rail) {
    return messagesOut[rail] + writesOut[rail] + (unanswered.isUncertain(rail) ? 1 : 0);
  }

  /** The rails over which something succeeded since the last call, a bit each. */
  int takeAnswered() {
    int since = answered;
    answered = 0;
    return since;
  }

  /** A rail took a write that is counted. */
  void wrote(int rail) {
    writesOut[rail]++;
  }

  /** A write that is counted is back, done or not. */
  void written(int rail) {
    writesOut[rail]--;
  }

  /** A rail took a message. */
  void took(int rail) {
    messagesOut[rail]++;
  }

  /** A message that a rail took is back, sent or not. */
  void returned(int rail) {
    messagesOut[rail]--;
  }

  /** A {@linkplain #trusted usable} rail, another one if possible, or {@link #NONE}. */
  public int after(int rail) {
    int trusted = trusted();
    for (int i = 1; i <= peers.length; i++) {
      int other = (rail + i) % peers.length;
      if ((trusted & 1 << other) != 0) {
        return other;
      }
    }
    return NONE;
  }

  /**
   * The rail for something that was to go over that one, and waited: another usable one if it was
   * given up meanwhile, or {@link #NONE}.
   */
  public int thatOrAnother(int rail) {
    return rail == NONE ? next() : isUsable(rail) ? rail : after(rail);
  }

  /**
   * An operation failed.
   *
   * @param tries how often it was posted
   * @return the rail to post it on again, or {@link #NONE}
   */
  public int retry(int rail, Failure why, int tries) {
    failed(rail, why);
    return another(rail, tries);
  }

  /** An operation failed over a rail, which may be given up for that. */
  void failed(int rail, Failure why) {
    boolean isReplaced = wasReplaced(rail, why);
    if (!isReplaced || (replaced & 1 << rail) == 0) {
      failures[rail] += FAILURE_WEIGHT;
    }
    // All that was out in a connection goes with it: that is one failure.
    replaced |= isReplaced ? 1 << rail : 0;
    if ((why.cause() == FailureCause.PEER_LOST && !isReplaced)
        || (failures[rail] > MOST_WEIGHT && hasOther(rail))) {
      lose(rail, why);
    } else {
      unanswered.lost(rail);
    }
  }

  /** A connection that is replaced from now on is another one. */
  void look() {
    replaced = 0;
  }

  /** As {@link #retry}, of an operation whose failure says nothing of its rail. */
  int another(int rail, int tries) {
    return tries >= TRIES || ports[rail].isDraining() ? NONE : after(rail);
  }

  /** An operation succeeded. */
  void succeeded(int rail) {
    answered |= 1 << rail;
    carried |= 1 << rail;
    if (failures[rail] > 0) {
      failures[rail]--;
    }
  }

  /** Whether another one is usable. */
  boolean hasOther(int rail) {
    return (usable() & ~(1 << rail)) != 0;
  }

  /** A rail is given up. */
  void lose(int rail, Failure why) {
    unusable |= 1 << rail;
    away &= ~(1 << rail);
    rotation.exclude(rail);
    lostBy.putIfAbsent(rail, why);
    failure = why;
    unanswered.lost(rail);
  }

  /** Whether a rail is used. */
  RailStatus.State state(int rail) {
    if (isUsable(rail)) {
      return RailStatus.State.UP;
    }
    if (ports[rail].brokenBy() != null) {
      return RailStatus.State.CLOSED;
    }
    return lostBy.containsKey(rail) ? RailStatus.State.LOST : RailStatus.State.REOPENING;
  }

  /** Why a rail is not used; empty if it is. */
  Optional<Failure> cause(int rail) {
    if (isUsable(rail)) {
      return Optional.empty();
    }
    Failure own = lostBy.get(rail);
    Failure of = own == null ? ports[rail].brokenBy() : own;
    return Optional.ofNullable(of == null ? ports[rail].retiredFor() : of);
  }

  /** Whether every rail was given up. */
  public boolean isLost() {
    return (unusable & ~away) == (1 << peers.length) - 1;
  }

  /** Why the last rail was given up; null if all are in use. */
  public @Nullable Failure failure() {
    return failure;
  }

  /** As {@link #failure}, for a caller that found no rail. */
  Failure reason(String operation) {
    Failure why = failure;
    return why == null ? Failures.noRail(operation) : why;
  }
}
