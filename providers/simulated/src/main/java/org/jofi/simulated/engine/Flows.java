package org.jofi.simulated.engine;

import java.util.ArrayList;
import java.util.List;
import org.jofi.simulated.network.AddressTable;
import org.jofi.simulated.network.EndpointAddress;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.network.Nic;
import org.jofi.simulated.profile.Link;
import org.jofi.simulated.registration.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/**
 * The flows of an endpoint, by the peer's number in the address vector. Under the network's lock.
 */
public final class Flows {
  private final ProtectionDomain domain;
  private final AddressTable peers;
  private final List<@Nullable Flow> flows = new ArrayList<>();

  public Flows(ProtectionDomain domain, AddressTable peers) {
    this.domain = domain;
    this.peers = peers;
  }

  /** The flow to a peer that is in the address vector. */
  public Flow to(long peer) {
    while (flows.size() <= peer) {
      flows.add(null);
    }
    Flow flow = flows.get((int) peer);
    if (flow == null) {
      flow = open(peers.address(peer));
      flows.set((int) peer, flow);
    }
    return flow;
  }

  private Flow open(long address) {
    Network network = domain.network();
    Nic from = domain.nic();
    Nic to = address < 0 ? null : network.nic(EndpointAddress.nicOf(address));
    Link link = network.link(from, to == null ? from : to);
    return new Flow(address, link, domain.info().messageOrder());
  }

  /** How many operations to a peer are in flight. */
  public int inFlightTo(long peer) {
    Flow flow = peer < flows.size() ? flows.get((int) peer) : null;
    return flow == null ? 0 : flow.inFlight;
  }

  /** Removes the flow to a peer. No operation to it may be in flight. */
  public void forget(long peer) {
    if (peer < flows.size()) {
      flows.set((int) peer, null);
    }
  }
}
