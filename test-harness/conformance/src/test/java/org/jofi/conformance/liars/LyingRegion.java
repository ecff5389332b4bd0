package org.jofi.conformance.liars;

import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;

/** A region behind a lie. */
final class LyingRegion implements MemoryRegion {
  final LyingDomain domain;
  final RegionRequest asked;
  private final MemoryRegion real;
  boolean open = true;
  long closedAtCall = -1;

  LyingRegion(LyingDomain domain, RegionRequest asked, MemoryRegion real) {
    this.domain = domain;
    this.asked = asked;
    this.real = real;
  }

  MemoryRegion real() {
    return real;
  }

  @Override
  public RegionRequest request() {
    return domain.lie().request(this);
  }

  @Override
  public long descriptor() {
    domain.provider.calls.incrementAndGet();
    return domain.lie().descriptor(this);
  }

  @Override
  public long key() {
    domain.provider.calls.incrementAndGet();
    return domain.lie().key(this);
  }

  @Override
  public void close() {
    long call = domain.provider.calls.incrementAndGet();
    domain.lie().closeRegion(this);
    open = false;
    closedAtCall = call;
  }
}
