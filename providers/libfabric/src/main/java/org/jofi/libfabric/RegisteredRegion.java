package org.jofi.libfabric;

import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;

/**
 * A region that is ready for use. Descriptor and key are read once, since they do not change any
 * more.
 */
final class RegisteredRegion implements MemoryRegion {
  private final Registration registration;
  private final long descriptor;

  RegisteredRegion(Registration registration) {
    this.registration = registration;
    descriptor = registration.descriptor();
  }

  @Override
  public RegionRequest request() {
    return registration.request();
  }

  @Override
  public long descriptor() {
    registration.requireOpen();
    return descriptor;
  }

  @Override
  public long key() {
    registration.requireOpen();
    return registration.key();
  }

  @Override
  public void close() {
    registration.close();
  }

  @Override
  public String toString() {
    return registration.place();
  }
}
