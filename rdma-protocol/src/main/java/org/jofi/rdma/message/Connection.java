package org.jofi.rdma.message;

import org.jofi.fabric.FabricInfo;
import org.jofi.rdma.endpoint.MultiRailEndpoint;
import org.jofi.rdma.endpoint.OutgoingMessage;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.endpoint.SentListener;
import org.jofi.rdma.endpoint.WriteCompletions;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.Parties;
import org.jofi.rdma.wire.RailAddresses;

/** This side's view of a connection: the endpoint, and the peer on each of its rails. */
public final class Connection {
  private final MultiRailEndpoint endpoint;
  private final Parties parties;
  private final PeerRails data;
  private final PeerRails control;
  private final DataProgress progress = new DataProgress();

  /**
   * Makes the peer known on each rail.
   *
   * @param parties to the peer's communicator, from this side's
   * @param peer its rails, as many as this side's
   * @throws IllegalArgumentException if they are not as many, or an address is none
   * @throws org.jofi.fabric.FabricException if a provider refuses an address
   */
  public Connection(MultiRailEndpoint endpoint, Parties parties, RailAddresses peer) {
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
    this.parties = parties;
    data = endpoint.dataTo(peer);
    control = endpoint.controlTo(peer);
  }

  /** As {@link WriteCompletions#mayBeOnTheirWay}: its NICs are alike in that. */
  public boolean writesMayBeOnTheirWay() {
    return WriteCompletions.mayBeOnTheirWay(controlNic());
  }

  /** How a NIC of the control rails was negotiated. */
  FabricInfo controlNic() {
    return endpoint.controlRails().getFirst().domain().info();
  }

  /** The endpoint that it goes through. */
  public MultiRailEndpoint endpoint() {
    return endpoint;
  }

  /** Whom to and from. */
  public Parties parties() {
    return parties;
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
    return "communicator %d of the peer, over %s".formatted(parties.to(), endpoint.label());
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
  boolean sendTrueLength(
      long messageNumber, int subReceive, long lengthBytes, SentListener who, long cookie) {
    OutgoingMessage message = endpoint.takeMessage();
    if (message == null) {
      return false;
    }
    ControlMessage.putTrueLength(
        message.memory(), message.at(), parties, messageNumber, subReceive, lengthBytes);
    send(message, who, cookie);
    return true;
  }

  /**
   * Asks whether a stripe arrived.
   *
   * @return false if there is no buffer now
   */
  boolean sendAsk(
      long messageNumber, int subReceive, int stripe, int tries, SentListener who, long cookie) {
    OutgoingMessage message = endpoint.takeMessage();
    if (message == null) {
      return false;
    }
    ControlMessage.putAsk(
        message.memory(), message.at(), parties, messageNumber, subReceive, stripe, tries);
    send(message, who, cookie);
    return true;
  }

  /**
   * Tells that a stripe was written again.
   *
   * @return false if there is no buffer now
   */
  boolean sendWritten(long messageNumber, int immediate, SentListener who, long cookie) {
    OutgoingMessage message = endpoint.takeMessage();
    if (message == null) {
      return false;
    }
    ControlMessage.putWritten(message.memory(), message.at(), parties, messageNumber, immediate);
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
