package org.jofi.rdma.driver;

import java.util.ArrayDeque;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.rdma.memory.BlockFreelist;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Tasks;
import org.jspecify.annotations.Nullable;

/** The messages that an endpoint can have on their way at once: made on demand, up to a limit. */
final class OutgoingMessages {
  private final BlockFreelist buffers;
  private final int rails;
  private final Tasks tasks;
  private final ArrayDeque<OutgoingMessage> free = new ArrayDeque<>();

  /**
   * @param buffers registered on the control rails
   * @param rails how many these are
   */
  OutgoingMessages(BlockFreelist buffers, int rails, Tasks tasks) {
    this.buffers = buffers;
    this.rails = rails;
    this.tasks = tasks;
  }

  Tasks tasks() {
    return tasks;
  }

  /**
   * A message to fill in and send over these rails; null if all are on their way, or no memory can
   * be registered for it.
   */
  @Nullable OutgoingMessage take(PeerRails to) {
    OutgoingMessage message = free.pollLast();
    if (message == null) {
      message = make();
    }
    if (message != null) {
      message.rails = to;
    }
    return message;
  }

  /** A message that has no peer yet; as {@link #take}. */
  @Nullable OutgoingMessage take() {
    OutgoingMessage message = free.pollLast();
    return message == null ? make() : message;
  }

  private @Nullable OutgoingMessage make() {
    int entry;
    try {
      entry = buffers.take();
    } catch (RegistrationException | IllegalStateException e) {
      // A provider out of resources, or an endpoint that is closing: those on their way come back.
      return null;
    }
    return entry == BlockFreelist.EXHAUSTED
        ? null
        : new OutgoingMessage(this, buffers, entry, rails);
  }

  /**
   * Sends an empty message over a rail, whose arrival the peer's provider tells, and which the peer
   * ignores, when queues have delivered.
   *
   * @return whether there was a buffer for it
   */
  boolean ask(PeerRails to, int rail, SentListener who, long cookie) {
    OutgoingMessage question = take(to);
    if (question == null) {
      return false;
    }
    question.sendLater(rail, who, cookie);
    return true;
  }

  void give(OutgoingMessage message) {
    free.addLast(message);
  }
}
