package org.jofi.rdma.message;

import java.util.List;
import org.jofi.rdma.endpoint.MultiRailEndpoint;
import org.jofi.rdma.endpoint.OutgoingMessage;
import org.jofi.rdma.endpoint.RailPort;
import org.jofi.rdma.endpoint.SentListener;
import org.jofi.rdma.schedule.ControlRotation;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.Parties;
import org.jofi.rdma.wire.RailAddresses;

/** This side's view of a connection: the endpoint, and the peer on each of its rails. */
public final class Connection {
  private final MultiRailEndpoint endpoint;
  private final Parties parties;
  private final long[] dataPeers;
  private final long[] controlPeers;
  private final ControlRotation rotation;

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
    dataPeers = new long[endpoint.dataCount()];
    controlPeers = new long[endpoint.controlCount()];
    List<FabricAddress> data = peer.data();
    for (int rail = 0; rail < dataPeers.length; rail++) {
      dataPeers[rail] = endpoint.data(rail).peer(data.get(rail));
    }
    List<FabricAddress> control = peer.control();
    for (int rail = 0; rail < controlPeers.length; rail++) {
      controlPeers[rail] = endpoint.control(rail).peer(control.get(rail));
    }
    rotation = new ControlRotation(controlPeers.length);
  }

  /** The endpoint that it goes through. */
  public MultiRailEndpoint endpoint() {
    return endpoint;
  }

  /** Whom to and from. */
  public Parties parties() {
    return parties;
  }

  RailPort data(int rail) {
    return endpoint.data(rail);
  }

  long dataPeer(int rail) {
    return dataPeers[rail];
  }

  RailPort control(int rail) {
    return endpoint.control(rail);
  }

  /** The peer's number on a control rail. */
  public long controlPeer(int rail) {
    return controlPeers[rail];
  }

  /** The control rail whose turn it is. */
  int nextControlRail() {
    return rotation.next();
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
    int rail = nextControlRail();
    endpoint.send(message, control(rail), controlPeers[rail], ControlMessage.BYTES, who, cookie);
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
    int rail = nextControlRail();
    endpoint.deferImmediate(message, control(rail), controlPeers[rail], bits, who, cookie);
    return true;
  }
}
