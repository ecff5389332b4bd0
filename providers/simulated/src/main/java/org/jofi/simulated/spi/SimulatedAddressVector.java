package org.jofi.simulated.spi;

import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.network.AddressTable;
import org.jofi.simulated.network.EndpointAddress;
import org.jofi.simulated.network.Lifecycle;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.registration.ProtectionDomain;

/** A table of peers; a peer's number is its index. */
final class SimulatedAddressVector implements AddressVector {
  private final ProtectionDomain domain;
  private final Network network;
  private final Lifecycle life;
  private final AddressTable peers = new AddressTable();
  private final List<SimulatedEndpoint> users = new ArrayList<>();

  SimulatedAddressVector(ProtectionDomain domain) {
    this.domain = domain;
    this.network = domain.network();
    this.life = new Lifecycle(network, domain.life().label() + " address vector");
    domain.life().addUser(life);
  }

  ProtectionDomain domain() {
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

  /** The peers' address keys. */
  AddressTable peers() {
    return peers;
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
      long known = key < 0 ? -1 : peers.numberOf(key);
      if (known >= 0) {
        return known;
      }
      long number = peers.add(key);
      life.history().add("inserted peer", number);
      return number;
    } finally {
      network.exit();
    }
  }

  @Override
  public void remove(long peer) {
    network.enter();
    try {
      life.requireOpen("fi_av_remove");
      if (!peers.knows(peer)) {
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
      peers.remove(peer);
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
