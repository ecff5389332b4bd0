package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.engine.Connection;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.rdma.wire.WireFault;

/**
 * What two sides tell each other about their data rails, over any connection between them. Used
 * with the endpoint's lock held.
 */
final class RailMessages {
  private RailMessages() {}

  /**
   * Sends what is due to the peer of a connection. What is lost for lack of a buffer comes again.
   */
  static void send(Connection connection) {
    OperationSink sink = connection.sink();
    for (RailUpdate update = sink.railControl().takeUpdate();
        update != null;
        update = sink.railControl().takeUpdate()) {
      Packet message = sink.takePacket();
      if (message == null) {
        return;
      }
      int bytes = update.put(message.memory(), message.at(), connection.id());
      if (update.kind() == RailUpdate.Kind.NOTICE) {
        message.tell(bytes, SentListener.NOBODY, 0);
      } else {
        sink.railControl().sendOver(update.rail(), message, bytes);
      }
    }
  }

  /** Takes a {@code RAIL_UPDATE} of a connection; whether it is one. */
  static boolean take(Connection connection, MemorySegment memory, long at, long lengthBytes) {
    if (RailUpdate.check(memory, at, lengthBytes) != WireFault.NONE) {
      return false;
    }
    RailUpdate update = RailUpdate.read(memory, at);
    if (update.rail() >= connection.sink().dataRails()) {
      return false;
    }
    try {
      if (!connection.sink().railControl().told(update)) {
        return false;
      }
    } catch (IllegalArgumentException | FabricException e) {
      // The rail stays out of use; the peer tells of it again.
      return false;
    }
    send(connection);
    return true;
  }
}
