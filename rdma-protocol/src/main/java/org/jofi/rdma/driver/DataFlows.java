package org.jofi.rdma.driver;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/** The {@link DataFlow}s of an endpoint: two per peer, which its connections share. */
final class DataFlows {
  private final Supplier<DataFlow> flow;
  private final Map<Long, OfPeer> peers = new HashMap<>();

  /**
   * @param writes what goes to it
   * @param reads what is read from it
   */
  record OfPeer(DataFlow writes, DataFlow reads) {}

  DataFlows(Supplier<DataFlow> flow) {
    this.flow = flow;
  }

  /** Those of a peer, by its number on the first data rail. */
  OfPeer of(long peer) {
    return peers.computeIfAbsent(peer, _ -> new OfPeer(flow.get(), flow.get()));
  }
}
