package org.jofi.rdma.driver;

import java.util.ArrayDeque;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.rdma.memory.BlockFreelist;
import org.jofi.rdma.operation.Tasks;
import org.jspecify.annotations.Nullable;

/** The messages that an endpoint can have on their way at once: made on demand, up to a limit. */
final class OutgoingMessages {
  private final BlockFreelist buffers;
  private final Tasks tasks;
  private final ArrayDeque<OutgoingMessage> free = new ArrayDeque<>();

  OutgoingMessages(BlockFreelist buffers, Tasks tasks) {
    this.buffers = buffers;
    this.tasks = tasks;
  }

  /** A message to fill in; null if all are on their way, or no memory can be registered for it. */
  @Nullable OutgoingMessage take() {
    OutgoingMessage message = free.pollLast();
    if (message != null) {
      return message;
    }
    int entry;
    try {
      entry = buffers.take();
    } catch (RegistrationException | IllegalStateException e) {
      // A provider out of resources, or an endpoint that is closing: those on their way come back.
      return null;
    }
    return entry == BlockFreelist.EXHAUSTED ? null : new OutgoingMessage(this, buffers, entry);
  }

  /** A message is to be posted when queues have delivered. */
  void again(OutgoingMessage message) {
    tasks.defer(message);
  }

  void give(OutgoingMessage message) {
    free.addLast(message);
  }
}
