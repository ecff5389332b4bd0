package org.jofi.rdma.message;

import org.jofi.rdma.endpoint.MultiRailEndpoint;
import org.jofi.rdma.endpoint.OutgoingMessage;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.endpoint.SentListener;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.RailAddresses;

/** This side's view of a connection: the endpoint, and the peer on each of its rails. */
public final class PeerLink {
  private final MultiRailEndpoint endpoint;
  private final ConnectionId connectionId;
  private final PeerRails data;
  private final PeerRails control;
  private final DataProgress progress = new DataProgress();
  private boolean peerKnows = true;

  /**
   * Makes the peer known on each rail.
   *
   * @param connectionId to the peer's communicator, from this side's
   * @param peer its rails, as many as this side's
   * @throws IllegalArgumentException if they are not as many, or an address is none
   * @throws org.jofi.fabric.FabricException if a provider refuses an address
   */
  public PeerLink(MultiRailEndpoint endpoint, ConnectionId connectionId, RailAddresses peer) {
    if (peer.data().size() != endpoint.dataCount()
        || peer.control().size() != endpoint.controlCount()) {
      throw new IllegalArgumentException(
          "%s has %d data and %d control rails, its peer %d and %d: use the same on both sides"
              .formatted(
                  endpoint.label(),
                  endpoint.dataCount(),
                  endpoint.controlCount(),
                  peer.data().size(),
                  peer.control().size()));
    }
    this.endpoint = endpoint;
    this.connectionId = connectionId;
    data = endpoint.dataTo(peer);
    control = endpoint.controlTo(peer);
  }

  /**
   * Whether a write that is complete may still be on its way to the peer.
   *
   * <p>A process sends CLOSE or CLOSED once its writes are complete, and the peer takes its memory
   * back when they have arrived. That message may go over another connection and be read before the
   * writes. If a write then names a region that is closed, such a provider shuts the connection,
   * with everything that other communicators have in it. Writes that were complete already are not
   * reported as failed. So the message says how many writes there were, and the peer waits for
   * them.
   */
  public boolean writesMayBeOnTheirWay() {
    return !endpoint.traits().completionMeansDelivered();
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
  }

  /** Whether operations on the peer's memory may be posted. */
  boolean mayPost() {
    return peerKnows;
  }

  /** Posts what is possible of a request now, and the rest as soon as it is. */
  void submit(Request request) {
    if (peerKnows) {
      endpoint.pending().submit(request);
    } else {
      // It waits for the peer, not for a rail, and holds up no other connection.
      endpoint.pending().watch(request);
    }
  }

  /** The endpoint that it goes through. */
  public MultiRailEndpoint endpoint() {
    return endpoint;
  }

  /** Whom to and from. */
  public ConnectionId id() {
    return connectionId;
  }

  /** The data rails to the peer. */
  public PeerRails data() {
    return data;
  }

  /** The control rails to the peer. */
  public PeerRails control() {
    return control;
  }

  /** How far this side's data operations are. */
  DataProgress progress() {
    return progress;
  }

  /** What errors call the peer. */
  String describePeer() {
    return "communicator %d of the peer, over %s".formatted(connectionId.to(), endpoint.label());
  }

  /** Sends a control message over a control rail. */
  public void send(OutgoingMessage message, SentListener who, long cookie) {
    endpoint.send(message, control, ControlMessage.BYTES, who, cookie);
  }

  /**
   * Sends a true length.
   *
   * @return false if there is no buffer now
   */
  boolean sendTrueLength(long receiveIndex, long lengthBytes, SentListener who, long cookie) {
    OutgoingMessage message = endpoint.takeMessage();
    if (message == null) {
      return false;
    }
    ControlMessage.putTrueLength(
        message.memory(), message.at(), connectionId, receiveIndex, lengthBytes);
    send(message, who, cookie);
    return true;
  }

  /**
   * Asks whether a stripe arrived.
   *
   * @return false if there is no buffer now
   */
  boolean sendAsk(long receiveIndex, int stripe, int tries, SentListener who, long cookie) {
    OutgoingMessage message = endpoint.takeMessage();
    if (message == null) {
      return false;
    }
    ControlMessage.putAsk(
        message.memory(), message.at(), connectionId, receiveIndex, stripe, tries);
    send(message, who, cookie);
    return true;
  }

  /**
   * Tells that a stripe was written again.
   *
   * @return false if there is no buffer now
   */
  boolean sendWritten(long receiveIndex, int immediate, SentListener who, long cookie) {
    OutgoingMessage message = endpoint.takeMessage();
    if (message == null) {
      return false;
    }
    ControlMessage.putWritten(
        message.memory(), message.at(), connectionId, receiveIndex, immediate);
    send(message, who, cookie);
    return true;
  }

  /**
   * Sends bare immediate data, when queues have delivered.
   *
   * @return false if there is no buffer now
   */
  boolean sendImmediate(int bits, SentListener who, long cookie) {
    OutgoingMessage message = endpoint.takeMessage();
    if (message == null) {
      return false;
    }
    endpoint.deferImmediate(message, control, bits, who, cookie);
    return true;
  }
}
