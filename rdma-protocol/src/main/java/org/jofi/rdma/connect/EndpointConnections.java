package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.endpoint.ArrivalSink;
import org.jofi.rdma.endpoint.MultiRailEndpoint;
import org.jofi.rdma.endpoint.OutgoingMessage;
import org.jofi.rdma.endpoint.SentListener;
import org.jofi.rdma.sequence.CommunicatorIds;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.rdma.wire.WireFault;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one endpoint: hands what arrives to the connection that it is for, and ends
 * those that close. What is for none, or malformed, is counted and dropped.
 */
public final class EndpointConnections implements ArrivalSink {
  private final ConnectionSettings settings;
  private final CommunicatorIds ids;
  private final @Nullable Side[] sides = new @Nullable Side[ProtocolLimits.MAX_COMMUNICATOR + 1];
  private final List<Side> ending = new ArrayList<>();
  private @Nullable MultiRailEndpoint endpoint;
  private @Nullable Handshakes handshakes;
  private long dropped;

  public EndpointConnections(ConnectionSettings settings) {
    this.settings = settings;
    ids =
        new CommunicatorIds(
            ProtocolLimits.MAX_COMMUNICATOR, (int) settings.random().getAsLong() & 0xffff);
  }

  /** The endpoint that was opened with this as its sink. Once, before all else. */
  public void attach(MultiRailEndpoint opened, SideFactory factory) {
    endpoint = opened;
    handshakes = new Handshakes(this, opened, settings, factory);
  }

  private MultiRailEndpoint endpoint() {
    MultiRailEndpoint attached = endpoint;
    if (attached == null) {
      throw new IllegalStateException("no endpoint yet");
    }
    return attached;
  }

  /** Where connections are made. */
  public Handshakes handshakes() {
    Handshakes attached = handshakes;
    if (attached == null) {
      throw new IllegalStateException("no endpoint yet");
    }
    return attached;
  }

  CommunicatorIds ids() {
    return ids;
  }

  void add(Side side) {
    sides[side.parties().from()] = side;
  }

  /** Whether a connector's request was granted before, and is seen again. */
  boolean isKnown(int from, int generation, long attempt) {
    for (Side side : sides) {
      if (side instanceof ReceiveSide
          && side.parties().to() == from
          && side.parties().toGeneration() == generation
          && side.parties().attempt() == attempt) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void immediate(long data) {
    if (ImmediateData.check(data) == WireFault.NONE) {
      Side side = sides[ImmediateData.communicator((int) data)];
      if (side != null) {
        side.immediate((int) data);
        return;
      }
    }
    dropped++;
  }

  @Override
  public void message(MemorySegment memory, long at, long lengthBytes) {
    if (MessageHeader.check(memory, at, lengthBytes) != WireFault.NONE) {
      dropped++;
      return;
    }
    MessageType type = MessageHeader.type(memory, at);
    boolean taken =
        switch (type) {
          case null -> false;
          case CONNECT, ACCEPT, REFUSE -> handshakes().message(type, memory, at, lengthBytes);
          default -> control(type, memory, at, lengthBytes);
        };
    if (!taken) {
      dropped++;
    }
  }

  private boolean control(MessageType type, MemorySegment memory, long at, long lengthBytes) {
    if (ControlMessage.check(memory, at, lengthBytes) != WireFault.NONE
        || !ids.isCurrent(MessageHeader.to(memory, at), MessageHeader.toGeneration(memory, at))) {
      return false;
    }
    Side side = sides[MessageHeader.to(memory, at)];
    if (side == null || !side.isFrom(memory, at)) {
      return false;
    }
    switch (type) {
      case TRUE_LENGTH ->
          side.trueLength(
              ControlMessage.number(memory, at),
              ControlMessage.subReceive(memory, at),
              ControlMessage.lengthBytes(memory, at));
      case CLOSE -> peerGone(side, ControlMessage.number(memory, at));
      case CLOSED -> peerGone(side, 0);
      case ABORT -> {
        side.fail(
            new Failure(
                FailureCause.PEER_ABORTED,
                0,
                "communicator %d".formatted(side.parties().from()),
                ControlMessage.reason(memory, at).words()));
        side.tell();
        peerGone(side, 0);
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private void peerGone(Side side, long messages) {
    side.peerGone(messages, bound());
    end(side);
  }

  private long bound() {
    return settings.clock().nanoTime() + settings.closeNs();
  }

  private void end(Side side) {
    if (!ending.contains(side)) {
      ending.add(side);
    }
  }

  /** Closes a side: what is in flight fails, then the peer is told. Again is a no-op. */
  public void close(Side side) {
    if (!side.isLocalClosed()) {
      side.closeHere(FailureCause.CLOSED, bound());
      end(side);
    }
  }

  /** Gives a side up: the peer is told at once, and completes nothing more. Again is a no-op. */
  public void abort(Side side) {
    if (!side.isLocalClosed()) {
      side.closeHere(FailureCause.ABORTED, bound());
      end(side);
      if (!side.isPeerClosed() && tell(side, MessageType.ABORT)) {
        side.tell();
        side.peerGone(0, bound());
      }
    }
  }

  /** Drives the endpoint, the handshakes and what is ending; how much came of it. */
  public int progress() {
    int events = endpoint().progress() + handshakes().progress();
    if (!ending.isEmpty()) {
      long now = settings.clock().nanoTime();
      for (int i = ending.size() - 1; i >= 0; i--) {
        if (advance(ending.get(i), now)) {
          ending.remove(i);
          events++;
        }
      }
    }
    return events;
  }

  /** Whether nothing is left to do for a side that ends. */
  private boolean advance(Side side, long now) {
    if (!side.isLocalClosed() && side.isPeerClosed() && side.isOverdue(now)) {
      // What the peer started before it closed did not arrive.
      side.fail(new Failure(FailureCause.PEER_CLOSED, 0, "irecv", "lost on its way"));
    }
    if (!side.isQuiet()) {
      return false;
    }
    if (!side.isTold()) {
      MessageType what = side.isPeerClosed() ? MessageType.CLOSED : MessageType.CLOSE;
      if (tell(side, what)) {
        side.tell();
      } else if (!side.isOverdue(now)) {
        return false;
      }
    }
    if (!side.isLocalClosed()) {
      // It waits for its owner's close, which puts it here again.
      return true;
    }
    if (!side.isPeerClosed() && !side.isOverdue(now)) {
      return false;
    }
    int id = side.parties().from();
    sides[id] = null;
    side.release();
    ids.localClosed(id);
    ids.peerGone(id);
    return true;
  }

  private boolean tell(Side side, MessageType what) {
    OutgoingMessage message = endpoint().takeMessage();
    if (message == null) {
      return false;
    }
    switch (what) {
      case CLOSE ->
          ControlMessage.putClose(message.memory(), message.at(), side.parties(), side.started());
      case CLOSED -> ControlMessage.putClosed(message.memory(), message.at(), side.parties());
      default ->
          ControlMessage.putAbort(
              message.memory(), message.at(), side.parties(), FailureCause.ABORTED);
    }
    endpoint()
        .send(
            message,
            endpoint().control(0),
            side.controlPeer(),
            ControlMessage.BYTES,
            SentListener.NOBODY,
            0);
    return true;
  }

  /** Sends a message of the handshake to an address; whether it could. */
  boolean sendTo(
      FabricAddress address, OutgoingMessage message, int lengthBytes, SentListener listener) {
    try {
      endpoint()
          .send(
              message,
              endpoint().control(0),
              endpoint().control(0).peer(address),
              lengthBytes,
              listener,
              0);
      return true;
    } catch (IllegalArgumentException | FabricException e) {
      endpoint().giveBack(message);
      return false;
    }
  }

  /** What arrived for no connection, or was malformed. */
  public long dropped() {
    return dropped;
  }

  /** Sides that are not released. */
  public int live() {
    return ProtocolLimits.MAX_COMMUNICATOR - ids.available();
  }
}
