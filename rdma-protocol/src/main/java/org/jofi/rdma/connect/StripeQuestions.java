package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jofi.rdma.endpoint.MultiRailEndpoint;
import org.jofi.rdma.endpoint.OutgoingMessage;
import org.jofi.rdma.message.Receiver;
import org.jofi.rdma.wire.ControlMessage;

/**
 * Questions of senders whether a stripe arrived. They are answered once the completion queues were
 * seen empty: until then the stripe may be in one of them.
 */
final class StripeQuestions {
  private static final int MOST = 4096;

  private record Question(Side side, long messageNumber, int subReceive, int stripe, int tries) {}

  private final ArrayDeque<Question> waiting = new ArrayDeque<>();

  /** Keeps a question that is there, checked; whether there was room. */
  boolean add(Side side, MemorySegment memory, long at) {
    return waiting.size() < MOST
        && waiting.add(
            new Question(
                side,
                ControlMessage.number(memory, at),
                ControlMessage.subReceive(memory, at),
                ControlMessage.stripe(memory, at),
                ControlMessage.tries(memory, at)));
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Answers as long as there are buffers; who is not answered asks again. */
  void answer(MultiRailEndpoint endpoint) {
    for (Question question = waiting.pollFirst();
        question != null;
        question = waiting.pollFirst()) {
      Side side = question.side;
      int has = side.hasStripe(question.messageNumber, question.subReceive, question.stripe);
      OutgoingMessage message =
          has == Receiver.UNKNOWN || side.isReleased() ? null : endpoint.takeMessage();
      if (message != null) {
        ControlMessage.putAnswer(
            message.memory(),
            message.at(),
            side.parties(),
            question.messageNumber,
            question.subReceive,
            question.stripe,
            question.tries,
            has == Receiver.ARRIVED);
        side.send(message);
      }
    }
  }
}
