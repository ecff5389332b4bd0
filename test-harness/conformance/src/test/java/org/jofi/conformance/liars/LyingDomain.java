package org.jofi.conformance.liars;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;

/** A domain behind a lie. */
final class LyingDomain implements Domain {
  final LyingProvider provider;
  final List<LyingRegion> regions = new ArrayList<>();
  final List<LyingEndpoint> endpoints = new ArrayList<>();
  final Threads threads = new Threads();
  final Thread opener = Thread.currentThread();
  private final Domain real;

  LyingDomain(LyingProvider provider, Domain real) {
    this.provider = provider;
    this.real = real;
  }

  Domain real() {
    return real;
  }

  Lie lie() {
    return provider.lie();
  }

  /** Whether its NIC is not the first. */
  boolean isSecondRail() {
    return !info().domainName().endsWith("0");
  }

  @Override
  public FabricInfo info() {
    return real.info();
  }

  @Override
  public AddressVector openAddressVector(int expectedPeers) {
    return new LyingVector(this, real.openAddressVector(expectedPeers));
  }

  @Override
  public CompletionQueue openCompletionQueue(int depth, int contexts) {
    return new LyingQueue(this, depth, contexts);
  }

  @Override
  public Endpoint openEndpoint(EndpointRequest request) {
    LyingVector vector = (LyingVector) request.addressVector();
    LyingQueue transmit = (LyingQueue) request.transmitQueue();
    LyingQueue receive = (LyingQueue) request.receiveQueue();
    Endpoint opened =
        real.openEndpoint(
            new EndpointRequest(
                request.label(), vector.real, transmit.real(), receive.real(), request.options()));
    LyingEndpoint endpoint = new LyingEndpoint(this, opened, vector, transmit, receive);
    transmit.endpoint = endpoint;
    receive.endpoint = endpoint;
    endpoints.add(endpoint);
    provider.endpoints.put(HexFormat.of().formatHex(opened.address()), endpoint);
    return endpoint;
  }

  @Override
  public MemoryRegion register(RegionRequest request) {
    provider.calls.incrementAndGet();
    return keep(new LyingRegion(this, request, lie().register(this, request)));
  }

  private synchronized LyingRegion keep(LyingRegion region) {
    regions.add(region);
    return region;
  }

  @Override
  public UnboundRegion registerForEndpoint(RegionRequest request) {
    return new LyingUnboundRegion(this, request, lie().registerForEndpoint(this, request));
  }

  @Override
  public void close() {
    lie().close(this, real::close);
    provider.domains.remove(this);
    provider.closed.incrementAndGet();
  }

  LyingRegion enabled(RegionRequest request, MemoryRegion region) {
    return keep(new LyingRegion(this, request, region));
  }

  /** An address vector that knows which endpoint each number is. */
  static final class LyingVector implements AddressVector {
    final List<LyingEndpoint> peers = new ArrayList<>();
    private final LyingDomain domain;
    private final AddressVector real;

    LyingVector(LyingDomain domain, AddressVector real) {
      this.domain = domain;
      this.real = real;
    }

    @Override
    public long insert(byte[] address) {
      long number = real.insert(address);
      while (peers.size() <= number) {
        peers.add(null);
      }
      peers.set((int) number, domain.provider.endpointAt(address));
      return number;
    }

    @Override
    public void remove(long peer) {
      real.remove(peer);
    }

    @Override
    public void close() {
      domain.lie().close(this, real::close);
    }
  }
}
