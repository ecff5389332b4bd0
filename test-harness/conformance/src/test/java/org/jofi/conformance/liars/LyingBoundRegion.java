package org.jofi.conformance.liars;

import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.MemoryRegion;

/** A region that is bound and not enabled, behind a lie. */
final class LyingBoundRegion implements BoundRegion {
  final LyingUnboundRegion unbound;
  final LyingEndpoint endpoint;
  private final BoundRegion real;

  LyingBoundRegion(LyingUnboundRegion unbound, LyingEndpoint endpoint, BoundRegion real) {
    this.unbound = unbound;
    this.endpoint = endpoint;
    this.real = real;
  }

  BoundRegion real() {
    return real;
  }

  LyingDomain domain() {
    return unbound.domain;
  }

  @Override
  public MemoryRegion enable() {
    LyingRegion region = domain().enabled(unbound.request, domain().lie().enable(this));
    endpoint.bound.add(region);
    return region;
  }

  @Override
  public void close() {
    domain().lie().closeBound(this);
  }
}
