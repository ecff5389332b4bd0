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
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/** The messages that an endpoint can have on their way at once: made on demand, up to a limit. */
public final class OutgoingMessages {
  private final RegisteredBuffers buffers;
  private final List<RailPort> control;
  final Tasks tasks;
  private final ArrayDeque<OutgoingMessage> free = new ArrayDeque<>();

  OutgoingMessages(RegisteredBuffers buffers, List<RailPort> control, Tasks tasks) {
    this.buffers = buffers;
    this.control = control;
    this.tasks = tasks;
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

  /** A message to who is no peer yet, as {@link #take}; null if there is no buffer. */
  public @Nullable Packet takeForStranger() {
    OutgoingMessage message = free.pollLast();
    return message == null ? make() : message;
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
   * Sends a message over a control rail to an address that may not be a peer's. The address is kept
   * only for this message, and its outcome is not reported.
   *
   * @return false if that is no address, too many are answered now, or the provider refuses it
   */
  public boolean answer(Packet packet, FabricAddress stranger, int rail, int lengthBytes) {
    return sendTo(stranger, false, rail, packet, lengthBytes, SentListener.NOBODY);
  }

  /**
   * Sends a message over a control rail to an address to which there is no connection yet, which is
   * a peer's only for this message. The listener is told the rail.
   *
   * @return false if that is no address, or the provider refuses it
   */
  public boolean sendTo(
      FabricAddress address, int rail, Packet packet, int lengthBytes, SentListener who) {
    return sendTo(address, true, rail, packet, lengthBytes, who);
  }

  private boolean sendTo(
      FabricAddress address,
      boolean isPeer,
      int rail,
      Packet packet,
      int lengthBytes,
      SentListener who) {
    PeerRails alone;
    try {
      alone = PeerRails.to(control.subList(rail, rail + 1), this, List.of(address), isPeer);
    } catch (IllegalArgumentException | FabricException e) {
      give((OutgoingMessage) packet);
      return false;
    }
    ((OutgoingMessage) packet).to(alone.connected()).send(lengthBytes, new Alone(alone, who), rail);
    return true;
  }

  /** Lets go of an address when its message is over. */
  private record Alone(PeerRails rails, SentListener who) implements SentListener {
    @Override
    public void sent(long cookie, @Nullable Failure failure) {
      rails.close();
      who.sent(cookie, failure);
    }

    @Override
    public boolean isWanted(long cookie) {
      return who.isWanted(cookie);
    }
  }

  /** Sends an empty message over a rail, which the peer ignores; whether there was a buffer. */
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
