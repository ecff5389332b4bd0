package org.jofi.rdma.wire;

import java.util.HashSet;
import java.util.List;
import org.jofi.transport.ConnectHandle;

/**
 * The listener's answer to a connector with more or fewer rails: where a listener is that has as
 * many as go together with some of the connector's.
 *
 * @param id to the connector's communicator, from nobody
 * @param listenerRails how many data rails the listener has that was asked, 1 to 8
 * @param rails which data rails the connector is to use, in the order of the other listener's; 1 to
 *     8 numbers below 8, each once
 * @param handle the other listener; or the same, if only the connector is to use fewer
 */
public record ConnectRedirect(
    ConnectionId id, int listenerRails, List<Integer> rails, ConnectHandle handle) {

  public ConnectRedirect {
    rails = List.copyOf(rails);
    if (!areSome(rails)) {
      throw new IllegalArgumentException("these are no rails: " + rails);
    }
  }

  /** Whether these may be numbers of rails. */
  static boolean areSome(List<Integer> rails) {
    return !rails.isEmpty()
        && new HashSet<>(rails).size() == rails.size()
        && rails.stream().allMatch(rail -> rail >= 0 && rail < ProtocolLimits.MAX_RAILS);
  }
}
