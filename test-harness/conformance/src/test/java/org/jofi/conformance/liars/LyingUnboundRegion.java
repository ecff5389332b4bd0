package org.jofi.conformance.liars;

import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;

/** A region that is not bound yet, behind a lie. */
final class LyingUnboundRegion implements UnboundRegion {
  final LyingDomain domain;
  final RegionRequest request;
  private final UnboundRegion real;

  LyingUnboundRegion(LyingDomain domain, RegionRequest request, UnboundRegion real) {
    this.domain = domain;
    this.request = request;
    this.real = real;
  }

  UnboundRegion real() {
    return real;
  }

  @Override
  public BoundRegion bind(Endpoint endpoint) {
    LyingEndpoint to = (LyingEndpoint) endpoint;
    return new LyingBoundRegion(this, to, domain.lie().bind(this, to.real()));
  }

  @Override
  public void close() {
    real.close();
  }
}
