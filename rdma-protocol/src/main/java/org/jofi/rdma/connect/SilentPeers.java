package org.jofi.rdma.connect;

import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.LongHashSet;
import org.jofi.rdma.engine.Connection;

/**
 * The peers that did not answer in time. So closing many communicators to a dead peer waits for it
 * only once. A peer counts as silent for as long as a close may take, or until something arrives
 * from it. Used with the endpoint's lock held.
 */
final class SilentPeers {
  private static final long NONE = Long.MIN_VALUE;

  private final long closeNs;
  private final Suspicion suspicion;
  private final Long2LongHashMap until = new Long2LongHashMap(NONE);

  /** Those that were asked for the sake of another endpoint. */
  private final LongHashSet asked = new LongHashSet();

  private long askedAt;
  private long seen;
  private long raisedAt = NONE;

  /**
   * @param closeNs how long a close may take, in ns
   * @param suspicion shared with the other endpoints of the device
   */
  SilentPeers(long closeNs, Suspicion suspicion) {
    this.closeNs = closeNs;
    this.suspicion = suspicion;
    seen = suspicion.raised();
  }

  /** A peer did not answer in time. */
  void silent(Connection connection, long now) {
    until.put(connection.sink().peer(), now + closeNs);
  }

  /** Something of a peer arrived. */
  void heard(Connection connection) {
    if (!until.isEmpty()) {
      until.remove(connection.sink().peer());
    }
    if (!asked.isEmpty()) {
      asked.remove(connection.sink().peer());
    }
  }

  /** Whether it is no use to wait for a peer. */
  boolean contains(Connection connection, long now) {
    if (until.isEmpty()) {
      return false;
    }
    long end = until.get(connection.sink().peer());
    if (end != NONE && now - end >= 0) {
      until.remove(connection.sink().peer());
      return false;
    }
    return end != NONE;
  }

  /** A close waits: the other endpoints are told when half of its bound is over. */
  void waits(long sinceNs, long now) {
    if (sinceNs >= closeNs / 2 && (raisedAt == NONE || now - raisedAt >= closeNs)) {
      raisedAt = now;
      suspicion.raise();
    }
  }

  /** Whether another endpoint suspects somebody since the last call. */
  boolean isSuspicionNew() {
    boolean isNew = suspicion.raised() != seen;
    seen = suspicion.raised();
    return isNew;
  }

  /**
   * A peer is to be asked, once for all its connections; whether it was not yet.
   *
   * @param watched time in which this side looked, in ns
   */
  boolean ask(Connection connection, long watched) {
    if (asked.isEmpty()) {
      askedAt = watched;
    }
    return asked.add(connection.sink().peer());
  }

  /** Those that were asked, and did not answer for half of a bound, are silent. */
  void look(long watched, long now) {
    if (!asked.isEmpty() && watched - askedAt >= closeNs / 2) {
      asked.forEachLong(peer -> until.put(peer, now + closeNs));
      asked.clear();
    }
  }
}
