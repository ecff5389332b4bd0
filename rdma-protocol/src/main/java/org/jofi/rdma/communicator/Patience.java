package org.jofi.rdma.communicator;

import org.agrona.concurrent.NanoClock;
import org.jofi.rdma.device.DeviceEndpoint;

/**
 * Decides whether a test of a request takes the endpoint's lock. Normally it does. While the
 * endpoint's progress thread is copying data, tests return without the lock; but if tests have
 * found it so for a while, one waits for the end of the round. Only the communicator's thread uses
 * this.
 */
final class Patience {
  /** A thread that tests all the time has found the end of a round long before this. */
  private static final long REFUSED_NS = 5_000_000;

  /** The longest wait, since a round may never end. */
  private static final long WAIT_NS = 20_000_000;

  private final DeviceEndpoint endpoint;
  private final NanoClock clock;
  private boolean refused;
  private long refusedSinceNs;

  Patience(DeviceEndpoint endpoint, NanoClock clock) {
    this.endpoint = endpoint;
    this.clock = clock;
  }

  /** Announces the caller; returns whether it shall take the lock. */
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
