package org.jofi.rdma.driver;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.agrona.collections.Long2ObjectHashMap;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.operation.PeerControl;
import org.jofi.rdma.wire.RailAddresses;
import org.jspecify.annotations.Nullable;

/**
 * The peers of an endpoint, each known by which endpoint it is, wherever its rails are reached. One
 * to which no connection leads, and to which nothing is on its way, is forgotten. Used with the
 * endpoint's lock held.
 */
public final class Peers {
  private final Function<RailAddresses, Peer> opening;
  private final RailRetirement retirement;
  private final Long2ObjectHashMap<Peer> byEndpoint = new Long2ObjectHashMap<>();
  private final List<Peer> all = new ArrayList<>();

  /** Those to which no connection led when it was looked last. */
  private final ArrayDeque<Peer> left = new ArrayDeque<>(0);

  private boolean closed;

  Peers(Function<RailAddresses, Peer> opening, RailRetirement retirement) {
    this.opening = opening;
    this.retirement = retirement;
  }

  /**
   * One, for a connection to it, until {@link #leave}; it becomes known on each rail. One that was
   * lost is another from now on: it may be reached again. Throws as {@link RailPort#peer}.
   */
  Peer to(RailAddresses addresses) {
    forget();
    @Nullable Peer known = byEndpoint.get(addresses.endpoint());
    if (known != null && !known.isLost()) {
      known.learn(addresses);
      known.connections++;
      return known;
    }
    Peer made = opening.apply(addresses);
    made.connections++;
    byEndpoint.put(addresses.endpoint(), made);
    all.add(made);
    return made;
  }

  void leave(Peer peer) {
    if (--peer.connections == 0) {
      left.addLast(peer);
      forget();
    }
  }

  private void forget() {
    for (int looks = left.size(); looks > 0 && !closed; looks--) {
      Peer peer = left.removeFirst();
      if (peer.isBusy()) {
        left.addLast(peer);
      } else if (peer.connections == 0) {
        all.remove(peer);
        byEndpoint.remove(peer.endpoint, peer);
        peer.close();
      }
    }
  }

  /** The endpoint closed, and its address vectors with it. */
  void close() {
    closed = true;
  }

  public int count() {
    return all.size();
  }

  /** To how many a data rail is not used now. */
  public int without(int rail) {
    int without = 0;
    for (int i = 0; i < all.size(); i++) {
      without += all.get(i).data.isUsable(rail) ? 0 : 1;
    }
    return without;
  }

  /** Finds those that may be dead; {@link PeerControl#takeQuestion} tells whom to ask. */
  public void lookWhetherAlive(long now, long suspected, long closeNs) {
    for (int i = 0; i < all.size(); i++) {
      all.get(i).lookWhetherAlive(now, suspected, closeNs);
    }
  }

  /**
   * Looks which data rails are silent, if there are several, and closes them.
   *
   * @param now time in which this side looked, in nanoseconds
   */
  public void look(long now) {
    retirement.look();
    forget();
    for (int i = 0; i < all.size(); i++) {
      Peer peer = all.get(i);
      for (int closing = peer.look(now); closing != 0; closing &= closing - 1) {
        int rail = Integer.numberOfTrailingZeros(closing);
        retirement.begin(rail, Objects.requireNonNull(peer.data.rail(rail).cause()));
      }
    }
  }
}
