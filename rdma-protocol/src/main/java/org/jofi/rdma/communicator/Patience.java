package org.jofi.rdma.communicator;

import org.agrona.concurrent.NanoClock;
import org.jofi.rdma.device.DeviceEndpoint;

/**
 * Lets a communicator's tests of requests by, unless the endpoint's own driver is moving data; one
 * that comes seldom, and finds it so each time, waits for the round to end. The communicator's
 * thread.
 */
final class Patience {
  /** Who tests all the time has met the end of a round long before. */
  private static final long REFUSED_NS = 5_000_000;

  /** The longest wait: a round may be one that never ends. */
  private static final long WAIT_NS = 20_000_000;

  private final DeviceEndpoint endpoint;
  private final NanoClock clock;
  private boolean refused;
  private long refusedSinceNs;

  Patience(DeviceEndpoint endpoint, NanoClock clock) {
    this.endpoint = endpoint;
    this.clock = clock;
  }

  /** Whether to take the lock, as announced. */
  boolean announce() {
    if (endpoint.announceUnlessBusy()) {
      refused = false;
      return true;
    }
    long now = clock.nanoTime();
    if (!refused) {
      refused = true;
      refusedSinceNs = now;
      return false;
    }
    if (now - refusedSinceNs < REFUSED_NS) {
      return false;
    }
    refused = false;
    return endpoint.announceWithin(WAIT_NS);
  }
}
