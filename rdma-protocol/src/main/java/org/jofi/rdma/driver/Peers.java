package org.jofi.rdma.driver;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jofi.rdma.wire.RailAddresses;

/** The peers of an endpoint, by where they are reached. Used with the endpoint's lock held. */
final class Peers {
  private final Function<RailAddresses, Peer> opening;
  private final RailRetirement retirement;
  private final Map<RailAddresses, Peer> byAddresses = new HashMap<>();
  private final List<Peer> all = new ArrayList<>();

  /**
   * @param opening makes one
   * @param retirement closes rails that are silent
   */
  Peers(Function<RailAddresses, Peer> opening, RailRetirement retirement) {
    this.opening = opening;
    this.retirement = retirement;
  }

  /**
   * One, which becomes known on each rail. Of one that was lost nothing is kept: it may have been
   * started again, or be reached again.
   *
   * @throws IllegalArgumentException as {@link RailPort#peer}
   * @throws org.jofi.fabric.FabricException as {@link RailPort#peer}
   */
  Peer to(RailAddresses addresses) {
    Peer known = byAddresses.get(addresses);
    if (known == null || known.isLost()) {
      if (known != null && known.fences().isEmpty()) {
        all.remove(known);
      }
      known = opening.apply(addresses);
      byAddresses.put(addresses, known);
      all.add(known);
    }
    return known;
  }

  /** Looks which rails are silent, in time in which this side looked, in nanoseconds. */
  void look(long now) {
    for (int i = 0; i < all.size(); i++) {
      Peer peer = all.get(i);
      for (int closing = peer.look(now); closing != 0; closing &= closing - 1) {
        int rail = Integer.numberOfTrailingZeros(closing);
        retirement.begin(rail, peer.silence(rail));
      }
    }
  }
}
