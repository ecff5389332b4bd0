package org.jofi.mr;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.agrona.concurrent.NanoClock;
import org.jofi.fabric.Domain;

/**
 * All registrations of one device, that is, of the NICs that multi-rail endpoints are opened over
 * together: their scope, their keys, and their cache. Any thread. The opener closes it after its
 * endpoints and before its domains, best through {@link #addTo}.
 */
public final class DeviceRegistrations implements OwnershipGraph.Forcible {
  private final List<Domain> domains;
  private final IdentityHashMap<Domain, KeySource> keys = new IdentityHashMap<>();
  private final AtomicLong generations = new AtomicLong();
  private final Function<EndpointRails, MrScope> scopes;
  private final RegistrationCache cache;

  /**
   * @param domains the device's NICs, at least one; stay the caller's
   * @param limits what the cache may keep
   * @param clock for the time spent in registration
   * @param counters for the cache's statistics; stay the caller's
   * @param names knows the requests in flight, for errors
   * @throws IllegalArgumentException if the NICs negotiated different scopes, or keys of a width
   *     that cannot be served
   */
  public DeviceRegistrations(
      List<Domain> domains,
      CacheLimits limits,
      NanoClock clock,
      CacheCounters counters,
      RequestNames names) {
    this.domains = List.copyOf(domains);
    this.scopes = MrScope.negotiated(this.domains, generations::incrementAndGet);
    for (Domain domain : this.domains) {
      keys.computeIfAbsent(domain, KeySource::of);
    }
    this.cache = new RegistrationCache(limits, clock, counters, names, this::keysOf);
  }

  private KeySource keysOf(Domain domain) {
    KeySource source = keys.get(domain);
    if (source == null) {
      throw new IllegalArgumentException("%s is no NIC of this device".formatted(domain.info()));
    }
    return source;
  }

  /**
   * Makes a place for an endpoint to register memory.
   *
   * @param rails the endpoint's rails, on this device's NICs
   * @throws IllegalArgumentException if a role has no rail, or a rail is on another NIC
   * @throws IllegalStateException if this is closed
   */
  public synchronized EndpointRegistrations attach(EndpointRails rails) {
    check(rails, "data", rails.dataRails());
    check(rails, "control", rails.controlRails());
    return new EndpointRegistrations(rails, scopes.apply(rails), cache, this);
  }

  private void check(EndpointRails endpoint, String role, List<Rail> rails) {
    if (rails.isEmpty()) {
      throw new IllegalArgumentException("%s has no %s rail".formatted(endpoint.label(), role));
    }
    for (Rail rail : rails) {
      keysOf(rail.domain());
    }
  }

  /** The cache that this device's endpoints share. */
  public RegistrationCache cache() {
    return cache;
  }

  /** Opens an arena whose memory can be registered on this device, and is until it closes. */
  public RegisteredArena openArena() {
    return new RegisteredArena(cache);
  }

  /** Hands the cached registrations to the graph that closes this device's domains. */
  public void addTo(OwnershipGraph graph) {
    graph.own(this, "registration cache");
    for (Domain domain : domains) {
      graph.closesBefore(this, domain);
    }
  }

  /**
   * Closes what the cache still holds; again is a no-op. Then nothing can be registered any more.
   * What cannot be closed does not keep the rest open; the first failure is thrown, the others
   * suppressed. Call again.
   *
   * @throws RegistrationBusyException if requests use any of it
   * @throws RegistrationException if other threads still register or close some after {@link
   *     CacheLimits#waitNs}, or the thread was interrupted meanwhile
   * @throws org.jofi.fabric.FabricException if a provider refuses
   */
  @Override
  public void close() {
    cache.purgeAll(false);
  }

  /** As {@link #close}, whatever is in flight. */
  @Override
  public void closeRegardless() {
    cache.purgeAll(true);
  }
}
