package org.jofi.mr;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.agrona.concurrent.NanoClock;
import org.jofi.fabric.Domain;

/**
 * All registrations of one device, that is, of a group of NICs that multi-rail endpoints use
 * together: their scope, their keys, and their cache. Any thread. The code that opened it closes it
 * after its endpoints and before its domains, preferably through {@link #addTo}.
 */
public final class DeviceRegistrations implements OwnershipGraph.Forcible {
  private final List<Domain> domains;
  private final IdentityHashMap<Domain, KeySource> keys = new IdentityHashMap<>();
  private final AtomicLong generations = new AtomicLong();
  private final Function<EndpointRails, MrScope> scopes;
  private final RegistrationCache cache;

  /**
   * @param domains the device's NICs, at least one; the caller closes them
   * @param limits what the cache may keep
   * @param clock for the time spent in registration
   * @param counters for the cache's statistics; the caller closes them
   * @param names names the requests in flight, for error messages
   * @throws IllegalArgumentException if the NICs negotiated different scopes, or a key width that
   *     is not supported
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
   * Creates the object through which an endpoint registers memory.
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

  /** Opens an arena whose memory can be registered on this device until the arena closes. */
  public RegisteredArena openArena() {
    return new RegisteredArena(cache);
  }

  /** Adds the cached registrations to the graph that closes this device's domains. */
  public void addTo(OwnershipGraph graph) {
    graph.own(this, "registration cache");
    for (Domain domain : domains) {
      graph.closesBefore(this, domain);
    }
  }

  /**
   * Closes what the cache still holds; after that, nothing can be registered any more. A second
   * call does nothing. If something cannot be closed, the rest is closed nevertheless; the first
   * failure is thrown, with the others as suppressed exceptions, and the call can be repeated.
   *
   * @throws RegistrationBusyException if requests use any of the registrations
   * @throws RegistrationException if other threads are still registering or closing after {@link
   *     CacheLimits#waitNs}, or the thread was interrupted meanwhile
   * @throws org.jofi.fabric.FabricException if a provider refuses
   */
  @Override
  public void close() {
    cache.purgeAll(false);
  }

  /** As {@link #close}, even if requests are in flight. */
  @Override
  public void closeRegardless() {
    cache.purgeAll(true);
  }
}
