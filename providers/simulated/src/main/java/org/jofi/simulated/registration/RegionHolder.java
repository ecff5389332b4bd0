package org.jofi.simulated.registration;

import org.jofi.simulated.network.Lifecycle;

/** An endpoint, as the regions that are bound to it see it. */
public interface RegionHolder {
  /** The domain that it belongs to. */
  ProtectionDomain protectionDomain();

  /** Whether it is open, and what uses it. */
  Lifecycle life();
}
