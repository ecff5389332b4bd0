package org.jofi.rdma.connect;

import org.agrona.collections.LongHashSet;
import org.jofi.rdma.engine.Connection;

/**
 * The peers that did not answer in time. So closing many communicators to a dead peer waits for it
 * only once. A peer counts as silent until something arrives from it; while a connection leads to
 * it, it is asked once in as long as a close may take. Used with the endpoint's lock held.
 */
final class SilentPeers {
  private static final long NONE = Long.MIN_VALUE;

  private final long closeNs;
  private final Suspicion suspicion;
  private final LongHashSet silent = new LongHashSet();

  /** Those of the silent ones to whom a connection leads; filled while they are asked. */
  private final LongHashSet kept = new LongHashSet();

  private long askAgainAt;

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
    silent(connection.sink().peer(), now);
  }

  private void silent(long peer, long now) {
    if (silent.isEmpty()) {
      askAgainAt = now + closeNs;
    }
    silent.add(peer);
  }

  /** Something of a peer arrived. */
  void heard(Connection connection) {
    if (!silent.isEmpty()) {
      silent.remove(connection.sink().peer());
    }
    if (!asked.isEmpty()) {
      asked.remove(connection.sink().peer());
    }
  }

  /** Whether it is no use to wait for a peer. */
  boolean contains(Connection connection) {
    return !silent.isEmpty() && silent.contains(connection.sink().peer());
  }

  /**
   * Whether the silent ones are to be asked: {@link #keep} for each connection, then {@link #kept}.
   */
  boolean isTimeToAsk(long now) {
    return !silent.isEmpty() && now - askAgainAt >= 0;
  }

  /** Whether this is the first connection to a silent peer in this round of questions. */
  boolean keep(Connection connection) {
    return contains(connection) && kept.add(connection.sink().peer());
  }

  /** All connections were looked at: silent peers to which none of them leads are forgotten. */
  void kept(long now) {
    silent.clear();
    silent.addAll(kept);
    kept.clear();
    askAgainAt = now + closeNs;
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
      asked.forEachLong(peer -> silent(peer, now));
      asked.clear();
    }
  }
}
