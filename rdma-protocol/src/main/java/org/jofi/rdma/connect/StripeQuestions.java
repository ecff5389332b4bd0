package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jofi.rdma.wire.ControlMessage;

/**
 * Questions of senders whether a stripe has arrived. They are answered after the completion queues
 * were found empty, because until then the stripe's completion may be in one of them.
 */
final class StripeQuestions {
  private static final int MOST = 4096;

  private record Question(Connection connection, long receiveIndex, int stripe, int tries) {}

  private final ArrayDeque<Question> waiting = new ArrayDeque<>();

  /** Stores a question that was checked; returns whether there was space. */
  boolean add(Connection connection, MemorySegment memory) {
    return waiting.size() < MOST
        && waiting.add(
            new Question(
                connection,
                ControlMessage.number(memory),
                ControlMessage.stripe(memory),
                ControlMessage.tries(memory)));
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Sends answers as long as there are buffers. A sender that gets no answer asks again. */
  void answer() {
    for (Question question = waiting.pollFirst();
        question != null;
        question = waiting.pollFirst()) {
      question.connection.answer(question.receiveIndex, question.stripe, question.tries);
    }
  }
}
