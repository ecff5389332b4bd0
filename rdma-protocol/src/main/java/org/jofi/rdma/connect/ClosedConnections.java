package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.agrona.collections.Int2ObjectHashMap;
import org.jofi.rdma.driver.EndpointDriver;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;

/**
 * What is left of connections whose side here was released: enough to answer a late CLOSE of the
 * peer, which would wait for its bound otherwise. There is at most one per communicator id, until
 * the id is used again. Used with the endpoint's lock held.
 */
final class ClosedConnections {
  static final int MOST_ANSWERS = 64;

  private final Int2ObjectHashMap<Closed> closed = new Int2ObjectHashMap<>();

  private static final class Closed {
    final ConnectionId connectionId;
    final List<FabricAddress> addresses;
    final long writes;
    int answers;

    Closed(Connection connection) {
      connectionId = connection.id();
      addresses = connection.link.sink.peerAddresses();
      writes = connection.protocol.writes();
    }
  }

  /** A side was released, and nothing of it is in flight. */
  void add(Connection connection) {
    closed.put(connection.id().from(), new Closed(connection));
  }

  void forget(int id) {
    closed.remove(id);
  }

  void clear() {
    closed.clear();
  }

  /**
   * Answers a CLOSE that was checked, over each control rail in turn: the peer, to which no other
   * connection may lead, repeats it if the answer is lost. Returns whether it was of a connection
   * known here.
   */
  boolean answer(EndpointDriver endpoint, MemorySegment memory) {
    Closed one = closed.get(MessageHeader.to(memory));
    if (one == null
        || !MessageHeader.isOf(memory, one.connectionId)
        || one.answers == MOST_ANSWERS) {
      return false;
    }
    int rail = one.answers % one.addresses.size();
    if (Connector.answer(
        endpoint,
        one.addresses.get(rail),
        rail,
        one.connectionId,
        MessageType.CLOSED,
        one.writes,
        null)) {
      one.answers++;
    }
    return true;
  }
}
