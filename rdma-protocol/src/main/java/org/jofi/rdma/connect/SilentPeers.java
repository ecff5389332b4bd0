package org.jofi.rdma.connect;

import org.agrona.collections.Long2LongHashMap;
import org.jofi.rdma.engine.Connection;

/**
 * The peers that did not answer in time. So closing many communicators to a dead peer waits for it
 * only once. A peer counts as silent for as long as a close may take, or until something arrives
 * from it. Used with the endpoint's lock held.
 */
final class SilentPeers {
  private static final long HEARD = Long.MIN_VALUE;

  private final long forNs;
  private final Long2LongHashMap until = new Long2LongHashMap(HEARD);

  /**
   * @param forNs how long one counts as silent, in ns
   */
  SilentPeers(long forNs) {
    this.forNs = forNs;
  }

  /** A peer did not answer in time. */
  void silent(Connection connection, long now) {
    until.put(connection.sink().peer(), now + forNs);
  }

  /** Something of a peer arrived. */
  void heard(Connection connection) {
    if (!until.isEmpty()) {
      until.remove(connection.sink().peer());
    }
  }

  /** Whether it is no use to wait for a peer. */
  boolean contains(Connection connection, long now) {
    if (until.isEmpty()) {
      return false;
    }
    long end = until.get(connection.sink().peer());
    if (end != HEARD && now - end >= 0) {
      until.remove(connection.sink().peer());
      return false;
    }
    return end != HEARD;
  }
}
