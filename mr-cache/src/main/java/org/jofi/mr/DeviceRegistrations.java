package org.jofi.mr;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.agrona.concurrent.NanoClock;
import org.jofi.counters.written.CounterBlock;
import org.jofi.counters.written.CounterScope;
import org.jofi.fabric.Domain;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.cache.RegistrationCache;
import org.jofi.mr.key.KeySource;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheCounters;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationBusyException;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.registration.RequestNames;
import org.jofi.mr.scope.EndpointRails;
import org.jofi.mr.scope.MrScope;
import org.jofi.mr.scope.Rail;
import org.jofi.mr.teardown.OwnershipGraph;

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

  /** As below, with counters that only this process sees. */
  public DeviceRegistrations(
      List<Domain> domains,
      CacheLimits limits,
      NanoClock clock,
      RequestNames names,
      LongSupplier random) {
    this(domains, limits, clock, names, random, CounterBlock.unshared(CounterScope.REGISTRATIONS));
  }

  /**
   * @param domains the device's NICs, at least one; the caller closes them
   * @param limits what the cache may keep
   * @param clock for the time spent in registration
   * @param names names the requests in flight, for error messages
   * @param random any 64 bits, which nobody can guess: keys are drawn with it
   * @param counters where it is counted what the cache does
   * @throws IllegalArgumentException if the NICs negotiated different scopes, or a key width that
   *     is not supported
   */
  public DeviceRegistrations(
      List<Domain> domains,
      CacheLimits limits,
      NanoClock clock,
      RequestNames names,
      LongSupplier random,
      CounterBlock counters) {
    this.domains = List.copyOf(domains);
    this.scopes = MrScope.negotiated(this.domains, generations::incrementAndGet);
    for (Domain domain : this.domains) {
      keys.computeIfAbsent(domain, nic -> KeySource.of(nic, random));
    }
    this.cache = new RegistrationCache(limits, clock, names, this::keysOf, counters);
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

  /**
   * Closes every registration that shares a byte with memory which is about to be freed, leased or
   * not. Their leases can and should still be released; {@link DataRegistration#beginUse} returns
   * false from then on.
   *
   * @param kind where the memory lives
   * @param device ordinal of its GPU; 0 for host memory
   * @param address its first byte
   * @param lengthBytes its length, at least 1
   * @throws RegistrationBusyException if requests use any of it; nothing was closed then
   * @throws RegistrationException if other threads are still registering or closing it after the
   *     longest wait
   * @throws org.jofi.fabric.FabricException if a provider refused to close a region: the memory
   *     must not be freed yet; call again
   */
  public void invalidate(MemoryKind kind, int device, long address, long lengthBytes) {
    cache.invalidate(kind, device, address, lengthBytes);
  }

  /** As above, for several ranges; all of them or none. */
  void invalidate(List<BufferRange> ranges) {
    cache.invalidate(ranges);
  }

  /**
   * Closes idle registrations whose memory was freed, up to 64 at a time, and returns how many.
   * Nothing else looks for them: call it now and then.
   *
   * @param freed whether memory without an arena was freed
   */
  public int closeFreed(Predicate<BufferRange> freed) {
    return cache.closeFreed(freed);
  }

  /** Whether there is nothing for {@link #settle} to do. */
  public boolean isSettled() {
    return cache.isSettled();
  }

  /**
   * Closes, or keeps, the registrations whose last use ended, which {@link DataRegistration#endUse}
   * leaves undone because its callers hold locks. Call it without locks, after the use of memory
   * that has no known allocation, before that is freed; if another thread is at it, it waits for
   * that.
   */
  public void settle() {
    cache.settle();
  }

  /** Closes all idle registrations and returns how many. Those in use or leased stay open. */
  public int evictIdle() {
    return cache.evictIdle();
  }

  /** Returns the statistics. They are exact if nobody is using the cache. */
  public CacheCounters.Snapshot statistics() {
    return cache.statistics();
  }

  /** Opens an arena whose memory can be registered on this device until the arena closes. */
  public RegisteredArena openArena() {
    return new RegisteredArena(() -> List.of(this));
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
