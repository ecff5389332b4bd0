package org.jofi.simulated;

import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.LongArrayList;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;

/** A table of peers; a peer's number is its index. */
final class SimulatedAddressVector implements AddressVector {
  private static final long REMOVED = -2;

  private final SimulatedDomain domain;
  private final Network network;
  private final Lifecycle life;
  private final LongArrayList peers = new LongArrayList();
  private final List<SimulatedEndpoint> users = new ArrayList<>();

  SimulatedAddressVector(SimulatedDomain domain) {
    this.domain = domain;
    this.network = domain.network();
    this.life = new Lifecycle(network, domain.life().label() + " address vector");
    domain.life().addUser(life);
  }

  SimulatedDomain domain() {
    return domain;
  }

  Lifecycle life() {
    return life;
  }

  void addUser(SimulatedEndpoint endpoint) {
    users.add(endpoint);
    life.addUser(endpoint.life());
  }

  void removeUser(SimulatedEndpoint endpoint) {
    users.remove(endpoint);
    life.removeUser(endpoint.life());
  }

  /** Whether this is the number of a peer. */
  boolean knows(long peer) {
    return peer >= 0 && peer < peers.size() && peers.getLong((int) peer) != REMOVED;
  }

  /**
   * The address key of a peer; -1 if no endpoint can have the address. The number must be valid,
   * see {@link #knows}.
   */
  long address(long peer) {
    return peers.getLong((int) peer);
  }

  /** The number of a peer by its address key; -1 if it was not inserted. */
  long numberOf(long address) {
    return peers.indexOf(address);
  }

  @Override
  public long insert(byte[] address) {
    network.enter();
    try {
      life.requireOpen("fi_av_insert");
      int expected = domain.nic().profile().negotiation().addressBytes();
      if (address.length != expected) {
        String detail = "%d bytes, %s uses %d".formatted(address.length, domain.info(), expected);
        throw network
            .contracts()
            .misuse(
                Rule.ADDRESS_LENGTH,
                "fi_av_insert",
                life.history(),
                detail,
                new IllegalArgumentException(detail));
      }
      long key = EndpointAddress.decode(address);
      int known = key < 0 ? -1 : peers.indexOf(key);
      if (known >= 0) {
        return known;
      }
      peers.addLong(key);
      life.history().add("inserted peer", peers.size() - 1);
      return peers.size() - 1L;
    } finally {
      network.exit();
    }
  }

  @Override
  public void remove(long peer) {
    network.enter();
    try {
      life.requireOpen("fi_av_remove");
      if (!knows(peer)) {
        String detail = "no peer has the number " + peer;
        throw network
            .contracts()
            .misuse(
                Rule.PEER_KNOWN,
                "fi_av_remove",
                life.history(),
                detail,
                new IllegalArgumentException(detail));
      }
      for (SimulatedEndpoint user : users) {
        requireIdle(user, peer);
      }
      for (SimulatedEndpoint user : users) {
        user.flows().forget(peer);
      }
      peers.setLong((int) peer, REMOVED);
      life.history().add("removed peer", peer);
    } finally {
      network.exit();
    }
  }

  private void requireIdle(SimulatedEndpoint user, long peer) {
    int inFlight = user.flows().inFlightTo(peer);
    if (inFlight > 0) {
      String detail =
          "%d operations from %s to peer %d are in flight"
              .formatted(inFlight, user.life().label(), peer);
      throw network
          .contracts()
          .misuse(
              Rule.PEER_REMOVE_IN_FLIGHT,
              "fi_av_remove",
              life.history(),
              detail,
              new FabricException("fi_av_remove", FabricErrno.EBUSY, detail, life.label()));
    }
  }

  @Override
  public void close() {
    network.enter();
    try {
      if (!life.isOpen()) {
        return;
      }
      life.requireUnused(Rule.CLOSE_ORDER, "fi_close");
      domain.life().removeUser(life);
      life.close();
    } finally {
      network.exit();
    }
  }
}
