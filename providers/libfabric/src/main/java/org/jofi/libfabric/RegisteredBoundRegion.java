package org.jofi.libfabric;

import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.MemoryRegion;

/** A region that is bound to its endpoint and not enabled yet. */
final class RegisteredBoundRegion implements BoundRegion {
  private final Registration registration;
  private boolean enabled;

  RegisteredBoundRegion(Registration registration) {
    this.registration = registration;
  }

  @Override
  public synchronized MemoryRegion enable() {
    if (enabled) {
      throw new IllegalStateException(registration.place() + " is enabled already");
    }
    registration.requireOpen();
    registration.enable();
    enabled = true;
    return new RegisteredRegion(registration);
  }

  @Override
  public synchronized void close() {
    if (!enabled) {
      registration.close();
    }
  }
}
