package org.jofi.conformance.liars;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;

/** A provider behind a lie. What several lies need to know is noted here. Any thread. */
final class LyingProvider implements FabricProvider {
  final Map<String, LyingEndpoint> endpoints = new ConcurrentHashMap<>();
  final List<LyingDomain> domains = new CopyOnWriteArrayList<>();

  /** Sends and receives taken since the last domain was opened. */
  final AtomicInteger posts = new AtomicInteger();

  /** Domains closed since the last one was opened. */
  final AtomicInteger closed = new AtomicInteger();

  /** Calls of any kind. */
  final AtomicLong calls = new AtomicLong();

  /** Who polls. */
  final Threads threads = new Threads();

  private final FabricProvider real;
  private final Lie lie;

  LyingProvider(FabricProvider real, Lie lie) {
    this.real = real;
    this.lie = lie;
  }

  FabricProvider real() {
    return real;
  }

  Lie lie() {
    return lie;
  }

  @Override
  public String name() {
    return real.name();
  }

  @Override
  public String version() {
    return real.version();
  }

  @Override
  public List<FabricInfo> discover(FabricHints hints) {
    return lie.discover(this, hints);
  }

  @Override
  public Fabric open(FabricInfo info) {
    lie.opening(this);
    posts.set(0);
    closed.set(0);
    threads.forget();
    return new LyingFabric(real.open(info));
  }

  /** Whether the sides of a bench have greeted each other, and done nothing since. */
  boolean isIdleAfterGreeting() {
    return posts.get() == 4
        && domains.stream()
            .flatMap(domain -> domain.endpoints.stream())
            .allMatch(endpoint -> endpoint.inFlight.isEmpty() && endpoint.receives.isEmpty());
  }

  LyingEndpoint endpointAt(byte[] address) {
    return endpoints.get(HexFormat.of().formatHex(address));
  }

  private final class LyingFabric implements Fabric {
    private final Fabric fabric;

    LyingFabric(Fabric fabric) {
      this.fabric = fabric;
    }

    @Override
    public FabricInfo info() {
      return fabric.info();
    }

    @Override
    public Domain openDomain() {
      LyingDomain domain = new LyingDomain(LyingProvider.this, fabric.openDomain());
      domains.add(domain);
      return domain;
    }

    @Override
    public void close() {
      lie.close(this, fabric::close);
    }
  }
}
