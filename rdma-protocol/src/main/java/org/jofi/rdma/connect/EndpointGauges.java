package org.jofi.rdma.connect;

import org.jofi.counters.written.CounterBlock;
import org.jofi.counters.written.CounterType;
import org.jofi.rdma.driver.EndpointDriver;
import org.jofi.rdma.nic.RailPort;

/** What an endpoint has at a look, for those who read its counters: that costs no message. */
final class EndpointGauges {
  private EndpointGauges() {}

  static void write(EndpointDriver endpoint, ById<Connection> live, int attempts) {
    int open = 0;
    int broken = 0;
    int closing = 0;
    int requests = 0;
    int waiting = 0;
    for (int i = 0; i < live.size(); i++) {
      Connection connection = live.get(i);
      if (connection.closing.localClosed) {
        closing++;
      } else if (connection.closing.peerClosed || connection.failure() != null) {
        broken++;
      } else {
        open++;
      }
      requests += connection.running();
      waiting += connection.protocol.waiting();
    }
    CounterBlock all = endpoint.context.counters().all();
    all.add(CounterType.LOOKS, 1);
    all.set(CounterType.CONNECTIONS_CONNECTING, attempts);
    all.set(CounterType.CONNECTIONS_OPEN, open);
    all.set(CounterType.CONNECTIONS_BROKEN, broken);
    all.set(CounterType.CONNECTIONS_CLOSING, closing);
    all.set(CounterType.PEERS, endpoint.peers.count());
    all.set(CounterType.REQUESTS_IN_FLIGHT, requests);
    all.set(CounterType.SENDS_WAITING, waiting);
    for (int rail = 0; rail < endpoint.dataCount(); rail++) {
      RailPort port = endpoint.data(rail);
      int control = rail < endpoint.controlCount() ? endpoint.control(rail).operationsOut() : 0;
      port.counters.set(
          CounterType.RAIL_STATE, port.brokenBy() != null ? 2 : port.isRetired() ? 1 : 0);
      port.counters.set(CounterType.RAIL_PEERS_WITHOUT, endpoint.peers.without(rail));
      port.counters.set(CounterType.RAIL_OPERATIONS_OUT, port.operationsOut() + control);
    }
  }
}
