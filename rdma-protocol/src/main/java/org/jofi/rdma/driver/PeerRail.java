package org.jofi.rdma.driver;

import java.time.Duration;
import java.util.Optional;
import org.jofi.fabric.LinkTraffic;
import org.jofi.fabric.PostFlags;
import org.jofi.rdma.nic.Failures;
import org.jofi.rdma.nic.InsertedAddresses;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.schedule.ProbeTimer;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.transport.Failure;
import org.jofi.transport.RailStatus;
import org.jspecify.annotations.Nullable;

/**
 * One rail of one role to one peer: where the peer is reached on it, whether it is used, and what
 * is out on it. Used with the endpoint's lock held, by {@link PeerRails}.
 */
final class PeerRail {
  /** What a failure weighs against successes: a third one is too much amid fewer than these. */
  private static final int FAILURE_WEIGHT = 64;

  private static final int MOST_WEIGHT = 2 * FAILURE_WEIGHT;

  /** Whether a rail is used; {@link #after} is the table of all transitions. */
  enum State {
    UP(RailStatus.State.UP),
    /** What is out on it is half way to being silent: it is used if there is no other. */
    SUSPECT(RailStatus.State.UP),
    /** One of the sides closes its endpoint, and the other does not know the next one yet. */
    AWAY(RailStatus.State.REOPENING),
    /** It failed, or was silent. It is tried again from time to time. */
    LOST(RailStatus.State.LOST),
    /** One of the sides uses it no more. */
    CLOSED(RailStatus.State.CLOSED);

    private final RailStatus.State shown;

    State(RailStatus.State shown) {
      this.shown = shown;
    }

    RailStatus.State shown() {
      return shown;
    }

    boolean isUsable() {
      return this == UP || this == SUSPECT;
    }

    State after(Event event) {
      if (this == CLOSED) {
        return CLOSED;
      }
      return switch (event) {
        case AGED -> this == UP ? SUSPECT : this;
        case ANSWERED -> this == SUSPECT ? UP : this;
        case RETIRED, MOVED -> this == LOST ? LOST : AWAY;
        case FAILED -> LOST;
        case JOINED -> this == SUSPECT ? SUSPECT : UP;
        case ENDED -> CLOSED;
      };
    }
  }

  enum Event {
    /** What is out on it came half way to being silent. */
    AGED,
    /** What was out on it is answered. */
    ANSWERED,
    /** This side's endpoint is to close; another one will be opened. */
    RETIRED,
    /** The peer opened another endpoint. */
    MOVED,
    /** It failed, or is silent. */
    FAILED,
    /** Each side knows the other's endpoint, and the link works. */
    JOINED,
    /** One of the sides closed it for good. */
    ENDED
  }

  final RailPort port;

  private final boolean isAlone;

  /** Whether what is done over it has arrived. */
  final boolean seesArrivals;

  private final boolean isPeer;
  FabricAddress address;

  /** By which operations name the peer; null if it is not known there. */
  InsertedAddresses.@Nullable Entry entry;

  private State state = State.UP;
  private @Nullable Failure cause;

  /** What was told of it last, and since when it has been so. */
  private RailStatus.State shown = RailStatus.State.UP;

  private long since = -1;
  private long looked = -1;

  /** Of the peer's endpoint that is reached at the address. */
  int epoch;

  /** Data operations that were posted, but for those that came to nothing; and which are done. */
  long dataPosted;

  long dataCompleted;

  /** The latest of this side's endpoints that the peer knows. */
  int acknowledged;

  /** The first of this side's endpoints that the peer lets stay open. */
  int wanted;

  final ProbeTimer probe = new ProbeTimer();

  /** Messages, and writes that are counted, that it took, and that are not back. */
  int messagesOut;

  int writesOut;

  /** What failures weigh, less what succeeded since. */
  int failures;

  boolean hasCarried;

  /** Whether its connection was replaced since the last look. */
  boolean wasReplaced;

  PeerRail(RailPort port, boolean isAlone, FabricAddress address, boolean isPeer) {
    this.port = port;
    this.isAlone = isAlone;
    this.address = address;
    this.isPeer = isPeer;
    acknowledged = port.epoch();
    seesArrivals = port.rail().domain().info().traits().completionMeansDelivered();
  }

  /**
   * How operations are posted over it, {@link PostFlags}. With several rails, what is out on one of
   * them may have to go over another: so it counts as done only when the peer has it. A plain one
   * may as soon as it left, and over sockets does. So do the first ones over any rail, whose
   * connection may go.
   */
  long flags() {
    return (isAlone && hasCarried) || seesArrivals ? PostFlags.NONE : PostFlags.DELIVERY_COMPLETE;
  }

  /**
   * Whether a failure is that of a socket which went in favour of another. Where both sides connect
   * at once, one of the two goes, and not always before it is used: libfabric's tcp providers
   * compare the peer's process with that of an older connection, which took the same place.
   */
  boolean wasReplaced(Failure why) {
    return !hasCarried && !seesArrivals && Failures.isOfBrokenConnection(why);
  }

  State state() {
    return state;
  }

  /** Whether it is not used, and may be again: that is to be tried. */
  boolean mayReturn() {
    return state == State.LOST || state == State.AWAY;
  }

  /** Why it is not used; null if it is. */
  @Nullable Failure cause() {
    return cause;
  }

  /** The only way from one state to another, and why it is not used from then on, if it is not. */
  State change(Event event, @Nullable Failure why) {
    State next = state.after(event);
    if (next.isUsable()) {
      cause = null;
    } else if (next != state && state != State.LOST) {
      cause = why;
    }
    state = next;
    return next;
  }

  String label(String peer) {
    return "%s, to %s".formatted(port.label, peer);
  }

  /** Inserts the address of the peer, and lets go of the one before. */
  void insert() {
    InsertedAddresses.Entry inserted = port.peers().use(address, isPeer);
    close();
    entry = inserted;
  }

  void close() {
    if (entry != null) {
      entry.endUse(isPeer);
      entry = null;
    }
  }

  /** Looks whether something else is to be told of it than the last time. */
  boolean isNews(long now) {
    boolean isNews = state.shown != shown;
    if (isNews || since < 0) {
      since = now;
    }
    shown = state.shown;
    looked = now;
    return isNews;
  }

  /** For how long it has been as was told; to one look. */
  Duration age() {
    return Duration.ofNanos(looked - since);
  }

  Optional<LinkTraffic> traffic() {
    return port.traffic(address);
  }

  void succeeded() {
    hasCarried = true;
    if (failures > 0) {
      failures--;
    }
  }

  /** An operation failed, perhaps with its connection; whether it fails too often. */
  boolean failed(boolean isReplaced) {
    if (!isReplaced || !wasReplaced) {
      failures += FAILURE_WEIGHT;
    }
    // All that was out in a connection goes with it: that is one failure.
    wasReplaced |= isReplaced;
    return failures > MOST_WEIGHT;
  }
}
