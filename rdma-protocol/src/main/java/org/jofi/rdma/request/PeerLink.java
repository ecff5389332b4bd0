package org.jofi.rdma.request;

import java.util.ArrayDeque;
import org.jofi.rdma.operation.EndpointContext;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.MessageType;

/**
 * What the requests of one end of a connection share: where operations go, who the peer is, and
 * what waits until the peer knows this side. What tells or asks is false if there is no buffer now.
 */
public final class PeerLink {
  public final OperationSink sink;
  public final EndpointContext endpoint;
  public final ConnectionId id;
  private final ArrayDeque<Task> held = new ArrayDeque<>(0);
  private boolean peerKnows = true;

  /** Whether something of the peer was found since that was looked at last. */
  public boolean heard;

  /** Whether the peer's operations are back, or it is gone: it reaches no memory any more. */
  public boolean peerDone;

  /**
   * Whether the peer may be alive, and write into what was announced to it, though it is not waited
   * for any more: so the regions of that are closed with their last lease.
   */
  public boolean peerVanished;

  public PeerLink(OperationSink sink, ConnectionId connectionId) {
    this.sink = sink;
    endpoint = sink.endpoint();
    id = connectionId;
  }

  /**
   * The peer may not know this side's addresses yet, so that nothing is written to it, nor read,
   * until {@link #peerKnowsThisSide}. An EFA NIC refuses RDMA from whom its host never inserted
   * into an address vector: the rail it came over would count as lost.
   */
  public void awaitPeer() {
    peerKnows = false;
  }

  /** Something arrived that the peer sends only once it knows this side on every rail. */
  public void peerKnowsThisSide() {
    peerKnows = true;
    for (Task task = held.pollFirst(); task != null; task = held.pollFirst()) {
      endpoint.tasks().defer(task);
    }
  }

  /** Whether such a thing arrived, or was not awaited. */
  public boolean doesPeerKnowThisSide() {
    return peerKnows;
  }

  /** Does what is possible of a task now, and the rest as soon as it is. */
  public void submit(Task task) {
    if (peerKnows) {
      endpoint.tasks().submit(task);
    } else if (!held.contains(task)) {
      // It waits for the peer, not for a rail, and holds up no other connection.
      held.addLast(task);
    }
  }

  public String describePeer() {
    return "communicator %d of the peer, over %s".formatted(id.to(), endpoint.label());
  }

  /** Tells something of a receive, again if it may be lost; false if there is no buffer now. */
  public boolean tell(MessageType type, long receiveIndex, long value) {
    return tell(type, receiveIndex, value, SentListener.NOBODY, 0);
  }

  /** The same for who listens. */
  public boolean tell(
      MessageType type, long receiveIndex, long value, SentListener who, long cookie) {
    Packet message = sink.takePacket();
    if (message == null) {
      return false;
    }
    ControlMessage.put(message.memory(), id, type, receiveIndex, value, null);
    message.send(ControlMessage.BYTES, who, cookie);
    return true;
  }

  /** Sends bare immediate data, when queues have delivered. */
  public boolean sendImmediate(int bits, SentListener who, long cookie) {
    Packet message = sink.takePacket();
    if (message == null) {
      return false;
    }
    message.sendImmediate(bits, who, cookie);
    return true;
  }
}
