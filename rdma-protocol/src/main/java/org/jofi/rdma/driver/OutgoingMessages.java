package org.jofi.rdma.driver;

import java.util.ArrayDeque;
import java.util.List;
import org.jofi.fabric.FabricException;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.rdma.memory.RegisteredBuffers;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Tasks;
import org.jofi.rdma.wire.FabricAddress;
import org.jspecify.annotations.Nullable;

/** The messages that an endpoint can have on their way at once: made on demand, up to a limit. */
public final class OutgoingMessages {
  private final RegisteredBuffers buffers;
  private final List<RailPort> control;
  final Tasks tasks;
  final ArrayDeque<OutgoingMessage> free = new ArrayDeque<>();

  OutgoingMessages(RegisteredBuffers buffers, List<RailPort> control, Tasks tasks) {
    this.buffers = buffers;
    this.control = control;
    this.tasks = tasks;
  }

  /**
   * A message to fill in and send over these rails, or to who is no peer yet; null if all are on
   * their way, or no memory can be registered for it.
   */
  public @Nullable OutgoingMessage take(@Nullable PeerRails to) {
    OutgoingMessage message = free.isEmpty() ? make() : free.removeLast();
    if (message != null) {
      message.rails = to;
    }
    return message;
  }

  private @Nullable OutgoingMessage make() {
    try {
      RegisteredBuffers.Buffer buffer = buffers.take();
      return buffer == null ? null : new OutgoingMessage(this, buffer, control.size());
    } catch (RegistrationException | IllegalStateException e) {
      // A provider out of resources, or an endpoint that is closing: those on their way come back.
      return null;
    }
  }

  /**
   * Sends a message over a control rail to an address to which there is no connection, and which is
   * kept only for this message. The listener is told the rail.
   *
   * @param isPeer whether it is a peer's; a stranger's gets one answer
   * @return false if that is no address, too many strangers are answered now, or the provider
   *     refuses it
   */
  public boolean sendTo(
      FabricAddress address,
      boolean isPeer,
      int rail,
      Packet packet,
      int lengthBytes,
      SentListener who) {
    OutgoingMessage message = (OutgoingMessage) packet;
    try {
      message.rails =
          new PeerRails(control.subList(rail, rail + 1), this, List.of(address), isPeer)
              .connected();
    } catch (IllegalArgumentException | FabricException e) {
      give(message);
      return false;
    }
    message.ownsRails = true;
    message.send(lengthBytes, who, rail);
    return true;
  }

  void give(OutgoingMessage message) {
    message.clear();
    free.addLast(message);
  }
}
