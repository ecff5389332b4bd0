package org.jofi.rdma.driver;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** What goes over several data rails of an endpoint, by peer. */
final class DataFlows {
  private final Function<RailClock, DataFlow> flow;
  private final long boundNs;
  private final Map<Long, PeerFlows> byPeer = new HashMap<>();
  private final List<PeerFlows> peers = new ArrayList<>();

  /**
   * @param flow makes one that asks that clock which rails to use
   * @param boundNs how long a rail may be silent
   */
  DataFlows(Function<RailClock, DataFlow> flow, long boundNs) {
    this.flow = flow;
    this.boundNs = boundNs;
  }

  /** Those of the peer that these rails lead to. */
  PeerFlows to(PeerRails rails) {
    return byPeer.computeIfAbsent(rails.peer(0), _ -> open(rails));
  }

  private PeerFlows open(PeerRails rails) {
    RailClock clock =
        new RailClock(
            rails.count(),
            rail -> "%s, to peer %d".formatted(rails.port(rail).label(), rails.peer(rail)),
            boundNs);
    PeerFlows flows = new PeerFlows(flow.apply(clock), flow.apply(clock), clock);
    peers.add(flows);
    return flows;
  }

  /** Looks which rails are silent; in time in which this side looked, in nanoseconds. */
  void look(long now) {
    for (int i = 0; i < peers.size(); i++) {
      peers.get(i).look(now);
    }
  }
}
