package org.jofi.rdma.connect;

import java.util.List;
import org.jofi.transport.ConnectHandle;

/** Opens listeners for connectors that have more or fewer rails than a listener. */
@FunctionalInterface
public interface PartialListeners {

  /**
   * A listener over some rails of the device, the same one for the same rails. Any thread; without
   * an endpoint's lock.
   *
   * @param rails which, in their order
   * @param peer who has their like, in words
   * @return for the connector
   * @throws org.jofi.transport.TransportException if it cannot be opened
   * @throws IllegalStateException if this is closed
   */
  ConnectHandle listen(List<Integer> rails, String peer);
}
