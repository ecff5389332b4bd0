package org.jofi.simulated;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The flows of an endpoint, by the peer's number in the address vector. Under the network's lock.
 */
final class Flows {
  private final SimulatedDomain domain;
  private final SimulatedAddressVector peers;
  private final List<@Nullable Flow> flows = new ArrayList<>();

  Flows(SimulatedDomain domain, SimulatedAddressVector peers) {
    this.domain = domain;
    this.peers = peers;
  }

  /** The flow to a peer that is in the address vector. */
  Flow to(long peer) {
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
    SimulatedNic from = domain.nic();
    SimulatedNic to = address < 0 ? null : network.nic(EndpointAddress.nicOf(address));
    Link link = network.link(from, to == null ? from : to);
    return new Flow(address, link, domain.info().messageOrder());
  }

  /** How many operations to a peer are in flight. */
  int inFlightTo(long peer) {
    Flow flow = peer < flows.size() ? flows.get((int) peer) : null;
    return flow == null ? 0 : flow.inFlight;
  }

  /** Removes the flow to a peer. No operation to it may be in flight. */
  void forget(long peer) {
    if (peer < flows.size()) {
      flows.set((int) peer, null);
    }
  }
}
