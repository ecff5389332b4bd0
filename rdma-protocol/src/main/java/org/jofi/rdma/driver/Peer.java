package org.jofi.rdma.driver;

import org.jofi.rdma.wire.RailAddresses;
import org.jofi.transport.Failure;
import org.jofi.transport.RailChange;
import org.jofi.transport.RailStatus;
import org.jspecify.annotations.Nullable;

/**
 * A peer, which all connections to it share: the rails of each role, what is out on them, and what
 * both sides know of each other's. Used with the endpoint's lock held.
 */
final class Peer {
  private final long endpoint;
  private final String name;
  private final PeerRails data;
  private final PeerRails control;
  private final RailChanges changes;

  /** Null with one data rail, as the next two. */
  private final @Nullable PeerWatch watch;

  private final @Nullable DataFlow writes;
  private final @Nullable DataFlow reads;
  private final RailEpochs epochs;
  private final DataStall stall;
  private int connections;

  /** Watches the data rails of a peer if there are several. */
  interface Watching {
    /** Makes a watch, for errors that call the peer so; null with one data rail. */
    @Nullable PeerWatch of(String peer);
  }

  /**
   * @param endpoint which one it is, whatever becomes of its rails
   * @param changes is told which rails come to be used, or not to be used any more
   */
  Peer(long endpoint, PeerRails data, PeerRails control, RailChanges changes, Watching watching) {
    this.endpoint = endpoint;
    this.data = data;
    this.control = control;
    this.changes = changes;
    name = "peer %d".formatted(control.peer(0));
    watch = watching.of(name);
    writes = watch == null ? null : watch.writes();
    reads = watch == null ? null : watch.reads();
    epochs = new RailEpochs(data, control, name, watch == null ? _ -> {} : watch::restored);
    stall = DataStall.over(data, name);
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
    return control.isBusy() || !fences().isEmpty();
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

  /** What both sides know of each other's endpoints. */
  RailEpochs epochs() {
    return epochs;
  }

  Fences fences() {
    return epochs.fences();
  }

  /** Whether what is out to it moves. */
  DataStall stall() {
    return stall;
  }

  /** Whether it cannot be reached any more. */
  boolean isLost() {
    return data.isLost() || control.isLost();
  }

  RailStatus status(int rail) {
    int usable = data.usable();
    return new RailStatus(
        rail,
        data.port(rail).nic(),
        data.rail(rail).state().shown(),
        data.rail(rail).age(),
        data.cause(rail),
        writes == null ? RailStatus.Traffic.NONE : writes.traffic(rail, usable),
        reads == null ? RailStatus.Traffic.NONE : reads.traffic(rail, usable));
  }

  /** A message of the peer arrived. */
  void heard() {
    if (watch != null) {
      watch.heard();
    }
  }

  /** Whether the peer is to be asked whether it is there; once. */
  boolean takeQuestion() {
    return watch != null && watch.takeQuestion();
  }

  /** It said on the way to another connection where its rails are. */
  void learn(RailAddresses addresses) {
    epochs.learn(addresses);
  }

  /**
   * Looks which rails are silent, and what the peer is to be told.
   *
   * @param now time in which this side looked, in nanoseconds
   * @return the data rails that are silent: their endpoints are to be closed
   */
  int look(long now) {
    if (watch == null) {
      return 0;
    }
    int silent = watch.look(now);
    epochs.look(now, isLost());
    changes.compare(data, RailChange.Role.DATA, name, now);
    changes.compare(control, RailChange.Role.CONTROL, name, now);
    return silent;
  }

  /** Why a rail was found to be silent. */
  Failure silence(int rail) {
    if (watch == null) {
      throw new IllegalStateException("a single rail is never silent");
    }
    return watch.silence(rail);
  }
}
