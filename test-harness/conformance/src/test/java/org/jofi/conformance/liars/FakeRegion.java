package org.jofi.conformance.liars;

import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;

/** A region of a provider that says that it registered, and did not. */
record FakeRegion(RegionRequest request) implements MemoryRegion, UnboundRegion, BoundRegion {
  @Override
  public long descriptor() {
    return 0;
  }

  @Override
  public long key() {
    return request.requestedKey();
  }

  @Override
  public BoundRegion bind(Endpoint endpoint) {
    return this;
  }

  @Override
  public MemoryRegion enable() {
    return this;
  }

  @Override
  public void close() {}
}
