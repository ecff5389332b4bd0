package org.jofi.simulated;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An endpoint's flows, by the peer's number. Under the network's lock. */
final class Flows {
  private final SimulatedDomain domain;
  private final SimulatedAddressVector peers;
  private final List<@Nullable Flow> flows = new ArrayList<>();

  Flows(SimulatedDomain domain, SimulatedAddressVector peers) {
    this.domain = domain;
    this.peers = peers;
  }

  /** The flow to a peer that the address vector knows. */
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

  /** How many operations to that peer are in flight. */
  int inFlightTo(long peer) {
    Flow flow = peer < flows.size() ? flows.get((int) peer) : null;
    return flow == null ? 0 : flow.inFlight;
  }

  /** Forgets a peer that nothing is in flight to. */
  void forget(long peer) {
    if (peer < flows.size()) {
      flows.set((int) peer, null);
    }
  }
}
