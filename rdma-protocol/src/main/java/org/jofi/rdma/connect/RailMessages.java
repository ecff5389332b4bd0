package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.engine.Connection;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.RailControl;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.RailUp;
import org.jofi.rdma.wire.WireFault;

/**
 * What two sides tell each other about their data rails, over any connection between them: whose
 * endpoint is to be closed, and where it is reached when another one was opened. Used with the
 * endpoint's lock held.
 */
final class RailMessages {
  private static final int MOST = 1024;

  private final ArrayDeque<Question> questions = new ArrayDeque<>(0);

  private record Question(Connection connection, int rail, int address) {}

  /** Sends what is due to the peer of a connection. */
  void tell(Connection connection) {
    RailControl control = connection.sink().railControl();
    for (long fence = control.takeFence(); fence >= 0; fence = control.takeFence()) {
      fence(connection, (int) (fence >>> Integer.SIZE), (int) fence, false);
    }
    for (int rail = control.takeReturning(); rail >= 0; rail = control.takeReturning()) {
      tell(connection, control.railUp(rail), false);
    }
  }

  private static void fence(Connection connection, int rail, int address, boolean done) {
    Packet message = connection.sink().takePacket();
    if (message != null) {
      ControlMessage.putFence(message.memory(), message.at(), connection.id(), rail, address, done);
      connection.send(message, false);
    }
  }

  private static void tell(Connection connection, RailUp endpoint, boolean answers) {
    Packet message = connection.sink().takePacket();
    if (message != null) {
      int bytes = endpoint.put(message.memory(), message.at(), connection.id(), answers);
      connection.sink().railControl().sendOver(endpoint.rail(), message, bytes);
    }
  }

  /** Takes a checked {@code FENCE} or {@code FENCED}; whether it can be of such a rail. */
  boolean fence(Connection connection, MessageType type, MemorySegment memory, long at) {
    int rail = ControlMessage.rail(memory, at);
    int address = ControlMessage.address(memory, at);
    if (rail >= connection.sink().dataRails()) {
      return false;
    }
    if (type == MessageType.FENCED) {
      connection.sink().railControl().fenced(rail, address);
      return true;
    }
    Question question = new Question(connection, rail, address);
    return questions.contains(question) || (questions.size() < MOST && questions.add(question));
  }

  /** Takes a {@code RAIL_UP} or {@code RAIL_SEEN} of a connection; whether it is one. */
  boolean railUp(Connection connection, MemorySegment memory, long at, long lengthBytes) {
    if (RailUp.check(memory, at, lengthBytes) != WireFault.NONE) {
      return false;
    }
    RailUp endpoint = RailUp.read(memory, at);
    if (endpoint.rail() >= connection.sink().dataRails()) {
      return false;
    }
    boolean answers = MessageHeader.type(memory, at) == MessageType.RAIL_SEEN;
    try {
      connection.sink().railControl().told(endpoint, answers);
    } catch (IllegalArgumentException | FabricException e) {
      // The rail stays out of use; the peer tells of it again.
      return false;
    }
    if (!answers) {
      tell(connection, connection.sink().railControl().railUp(endpoint.rail()), true);
    }
    return true;
  }

  /** Answers questions for fences that stand by now. */
  void answer() {
    for (int left = questions.size(); left > 0; left--) {
      Question question = questions.removeFirst();
      Connection connection = question.connection;
      if (connection.isReleased()) {
        continue;
      }
      if (connection.sink().railControl().isFenced(question.rail, question.address)) {
        fence(connection, question.rail, question.address, true);
      } else {
        questions.addLast(question);
      }
    }
  }
}
