package org.jofi.rdma.driver;

import java.util.ArrayDeque;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.rdma.memory.BlockFreelist;
import org.jofi.rdma.operation.Packet;
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

  /** Where what waits is queued. */
  Tasks tasks() {
    return tasks;
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
    return entry == BlockFreelist.EXHAUSTED
        ? null
        : new OutgoingMessage(this, buffers, entry, rails);
  }

  /** Sends a message over one of these rails, now or when one takes it. */
  void send(Packet packet, PeerRails to, int lengthBytes, SentListener who, long cookie) {
    OutgoingMessage message = (OutgoingMessage) packet;
    message.address(to, lengthBytes, who, cookie);
    tasks.submit(message);
  }

  /** As {@link #send}, over the rail on which the fewest messages are out. */
  void tell(Packet packet, PeerRails to, int lengthBytes, SentListener who, long cookie) {
    OutgoingMessage message = (OutgoingMessage) packet;
    message.address(to, lengthBytes, who, cookie);
    message.passBusyRails();
    tasks.submit(message);
  }

  /** Sends a message over that rail, though it may be given up, and over no other. */
  void sendOver(Packet packet, PeerRails to, int rail, int lengthBytes) {
    OutgoingMessage message = (OutgoingMessage) packet;
    message.address(to, lengthBytes, SentListener.NOBODY, 0);
    message.onlyOver(rail);
    tasks.submit(message);
  }

  /** Sends immediate data without a message, when queues have delivered. */
  void sendImmediate(Packet packet, PeerRails to, int bits, SentListener who, long cookie) {
    OutgoingMessage message = (OutgoingMessage) packet;
    message.addressImmediate(to, bits, who, cookie);
    tasks.defer(message);
  }

  /**
   * Sends an empty message over a rail, whose arrival the peer's provider tells, and which the peer
   * ignores, when queues have delivered.
   *
   * @return whether there was a buffer for it
   */
  boolean ask(PeerRails to, int rail, SentListener who, long cookie) {
    OutgoingMessage question = take();
    if (question == null) {
      return false;
    }
    question.address(to, 0, who, cookie);
    question.onlyOver(rail);
    again(question);
    return true;
  }

  /** A message is to be posted when queues have delivered. */
  void again(OutgoingMessage message) {
    tasks.defer(message);
  }

  void give(OutgoingMessage message) {
    free.addLast(message);
  }
}
