package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jofi.rdma.engine.MessageProtocol;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.MessageType;

/**
 * Questions of senders whether a stripe has arrived. They are answered after the completion queues
 * were found empty, because until then the stripe's completion may be in one of them.
 */
final class StripeQuestions {
  private static final int MOST = 4096;

  private record Question(Connection connection, long receiveIndex, int stripe, int tries) {}

  private final ArrayDeque<Question> waiting = new ArrayDeque<>();

  /** Stores a question that was checked; returns whether there was space. */
  boolean add(Connection connection, MemorySegment memory, long at) {
    return waiting.size() < MOST
        && waiting.add(
            new Question(
                connection,
                ControlMessage.number(memory, at),
                ControlMessage.stripe(memory, at),
                ControlMessage.tries(memory, at)));
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Sends answers as long as there are buffers. A sender that gets no answer asks again. */
  void answer() {
    for (Question question = waiting.pollFirst();
        question != null;
        question = waiting.pollFirst()) {
      Connection connection = question.connection;
      int has = connection.protocol().hasStripe(question.receiveIndex, question.stripe);
      Packet message =
          has == MessageProtocol.UNKNOWN || connection.isReleased()
              ? null
              : connection.sink().takePacket();
      if (message != null) {
        ControlMessage.put(
            message.memory(),
            message.at(),
            connection.id(),
            MessageType.ANSWER,
            question.receiveIndex,
            ControlMessage.ofStripe(
                question.stripe, question.tries, has == MessageProtocol.ARRIVED));
        connection.send(message, false);
      }
    }
  }
}
