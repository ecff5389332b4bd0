package org.jofi.mr;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jofi.fabric.Access;
import org.jofi.fabric.Domain;
import org.jofi.fabric.MemoryKind;

/**
 * Where a multi-rail endpoint registers memory: {@link DeviceRegistrations#attach} gives it one.
 * Any thread. It is closed by the endpoint's {@link Teardown}, through {@link #addTo}.
 */
public final class EndpointRegistrations {
  private final EndpointRails rails;
  private final MrScope scope;
  private final RegistrationCache cache;
  private final CacheSpace space;
  private final Function<Domain, KeySource> keys;

  // Guarded by this object's monitor, which is not held while a provider works.
  private final Set<OwnedRegistration> owned = new LinkedHashSet<>();
  private final List<RegionSet> leftovers = new ArrayList<>();
  private boolean closing;

  EndpointRegistrations(
      EndpointRails rails,
      MrScope scope,
      RegistrationCache cache,
      Function<Domain, KeySource> keys) {
    this.rails = rails;
    this.scope = scope;
    this.cache = cache;
    this.space = cache.space(scope);
    this.keys = keys;
  }

  /** Identity of what this endpoint shares its data registrations within. */
  public long generation() {
    return scope.generation();
  }

  /**
   * A lease of a registration that covers the range on all data rails: from the cache, or made now.
   * Each lease is given back with {@link DataRegistration#release}. The memory must stay mapped
   * while leased; with an allocation id, until it is invalidated (see {@link
   * RegistrationCache#invalidate}).
   *
   * <p>A hit allocates nothing and takes no lock. A miss calls the provider on this thread; if it
   * is out of resources, idle registrations are evicted and it is tried once more.
   *
   * @param range what must be covered
   * @param access bits of {@link Access} that it must be registered for, at least one
   * @throws IllegalArgumentException if the access is none
   * @throws IllegalStateException if this endpoint, or the range's arena, is closed
   * @throws RegistrationException if a rail refuses; nothing is registered then
   */
  public DataRegistration acquire(BufferRange range, long access) {
    return cache.acquire(space, rails.dataRails(), range, access);
  }

  /**
   * As {@link #acquire(BufferRange, long)}, of a range given in parts, which a hit needs no object
   * for.
   *
   * @param kind where the memory lives
   * @param device ordinal of its GPU; 0 for host memory
   * @param allocationId id of its allocation, or {@link BufferRange#UNKNOWN_ALLOCATION}
   * @param address its first byte
   * @param lengthBytes its length, at least 1
   * @param access bits of {@link Access}, at least one
   */
  public DataRegistration acquire(
      MemoryKind kind, int device, long allocationId, long address, long lengthBytes, long access) {
    return cache.acquire(
        space, rails.dataRails(), kind, device, allocationId, address, lengthBytes, access);
  }

  /**
   * Registers a control mailbox on all control rails.
   *
   * @param access bits of {@link Access}, with remote access among them
   * @throws IllegalArgumentException if no peer may access it
   * @throws IllegalStateException if this endpoint is closed
   * @throws RegistrationException if a rail refuses; nothing is registered then
   */
  public ControlRegistration registerControl(BufferRange range, long access) {
    if (!Access.isRemote(access)) {
      throw new IllegalArgumentException(
          "a control mailbox is for peers; access %s is not: register it as local"
              .formatted(Access.describe(access)));
    }
    RegionSet regions = open(RegistrationRole.CONTROL, rails.controlRails(), range, access);
    return admit(new ControlRegistration(regions, this::forget));
  }

  /**
   * Registers memory for this side's own use.
   *
   * @param on the rails that use it, some of this endpoint's
   * @param access the least bits of {@link Access} that do, none of them remote
   * @throws IllegalArgumentException if the access is remote, or a rail is not this endpoint's
   * @throws IllegalStateException if this endpoint is closed
   * @throws RegistrationException if a rail refuses; nothing is registered then
   */
  public LocalRegistration registerLocal(BufferRange range, List<Rail> on, long access) {
    if (Access.isRemote(access)) {
      throw new IllegalArgumentException(
          "local memory is not for peers; access %s is".formatted(Access.describe(access)));
    }
    for (Rail rail : on) {
      if (!rails.dataRails().contains(rail) && !rails.controlRails().contains(rail)) {
        throw new IllegalArgumentException("%s is no rail of %s".formatted(rail, rails.label()));
      }
    }
    RegionSet regions = open(RegistrationRole.LOCAL, List.copyOf(on), range, access);
    return admit(new LocalRegistration(regions, this::forget));
  }

  private RegionSet open(RegistrationRole role, List<Rail> on, BufferRange range, long access) {
    refuseIfClosing(role, range);
    try {
      return RegionSet.open(role, scope, keys, on, range, access);
    } catch (RegistrationException e) {
      RegionSet leftover = e.leftover();
      if (leftover != null) {
        keep(leftover);
      }
      throw e;
    }
  }

  private synchronized void keep(RegionSet leftover) {
    leftovers.add(leftover);
  }

  private synchronized void refuseIfClosing(RegistrationRole role, BufferRange range) {
    if (closing) {
      throw new IllegalStateException(
          "cannot register %s %s: %s is closing".formatted(role, range, rails.label()));
    }
  }

  private <T extends OwnedRegistration> T admit(T registration) {
    synchronized (this) {
      if (!closing) {
        owned.add(registration);
        return registration;
      }
      leftovers.add(registration.regions());
    }
    registration.close();
    throw new IllegalStateException(
        "%s was registered while %s closed".formatted(registration, rails.label()));
  }

  private synchronized void forget(OwnedRegistration registration) {
    owned.remove(registration);
    leftovers.remove(registration.regions());
  }

  /**
   * Hands all that is registered for this endpoint to the graph that closes it, in the order that
   * the scope demands. From now on nothing can be registered here.
   */
  public synchronized void addTo(OwnershipGraph graph) {
    closing = true;
    scope.orderCached(graph, new CachedRegistrations(cache, space), rails);
    for (OwnedRegistration registration : owned) {
      graph.own(registration, registration.toString());
      scope.order(graph, registration, all());
    }
    for (RegionSet leftover : leftovers) {
      graph.own(leftover, "half-registered " + leftover.range());
      scope.order(graph, leftover, all());
    }
  }

  private List<Rail> all() {
    List<Rail> all = new ArrayList<>(rails.dataRails());
    all.addAll(rails.controlRails());
    return all;
  }

  /** What the cache holds for one scope, as one thing to close. */
  record CachedRegistrations(RegistrationCache cache, CacheSpace space)
      implements OwnershipGraph.Forcible {
    @Override
    public void close() {
      cache.purge(space, false);
    }

    @Override
    public void closeRegardless() {
      cache.purge(space, true);
    }
  }
}
