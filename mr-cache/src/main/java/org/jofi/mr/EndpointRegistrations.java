package org.jofi.mr;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jofi.fabric.Access;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.cache.CacheSpace;
import org.jofi.mr.cache.RegistrationCache;
import org.jofi.mr.cache.RegistrationOwner;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.region.RegistrationRole;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.scope.EndpointRails;
import org.jofi.mr.scope.MrScope;
import org.jofi.mr.scope.Rail;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jofi.mr.teardown.Teardown;
import org.jofi.mr.teardown.TeardownException;

/**
 * Registers memory for one multi-rail endpoint; {@link DeviceRegistrations#attach} creates it. Any
 * thread. The endpoint's {@link Teardown} closes it, through {@link #addTo}.
 */
public final class EndpointRegistrations {
  private final EndpointRails rails;
  private final List<Rail> dataRails;
  private final MrScope scope;
  private final RegistrationCache cache;
  private final CacheSpace space;
  private final DeviceRegistrations device;
  private final RegistrationOwner owner = this::refuseIfClosing;

  // Guarded by its own monitor, which is not held during a provider's calls.
  private final Set<OwnedRegistration> owned = new LinkedHashSet<>();

  /** Read on the hot path, where a volatile read costs no more than a plain one. */
  private volatile boolean closing;

  EndpointRegistrations(
      EndpointRails rails, MrScope scope, RegistrationCache cache, DeviceRegistrations device) {
    this.rails = rails;
    this.dataRails = List.copyOf(rails.dataRails());
    this.scope = scope;
    this.cache = cache;
    this.space = cache.space(scope);
    this.device = device;
  }

  /** Whether registrations stay as they are when the endpoint of one of the rails closes. */
  public boolean outlivesEndpoints() {
    return scope.outlivesEndpoints();
  }

  /**
   * Closes the regions that belong to the endpoint of a data rail, which is to close, and makes no
   * more of them. What is registered there has no key for peers on that rail any more. With the
   * lock of the endpoint, which posts nothing to that rail.
   *
   * @return false if another thread is registering: call it again
   * @throws org.jofi.fabric.FabricException if the provider refuses: call it again
   */
  public boolean closeRail(int rail) {
    if (scope.outlivesEndpoints()) {
      return true;
    }
    Rail closing = dataRails.get(rail);
    if (!scope.closeRail(closing)) {
      return false;
    }
    cache.closeRail(space, closing);
    List<OwnedRegistration> own;
    synchronized (owned) {
      own = List.copyOf(owned);
    }
    own.forEach(registration -> registration.regions().closeRail(closing));
    return true;
  }

  /** Identifies the scope within which this endpoint shares its data registrations. */
  public long generation() {
    return scope.generation();
  }

  /**
   * Leases a registration that covers the range on all data rails. It comes from the cache or is
   * made now. Give each lease back with {@link DataRegistration#release}. The memory must stay
   * mapped while leased. Memory of an arena may be freed afterwards; memory with an allocation id
   * after it was invalidated (see {@link RegistrationCache#invalidate}).
   *
   * <p>A hit allocates nothing and takes no lock. A miss calls the provider on this thread. If the
   * provider is out of resources, idle registrations are evicted, and the call is tried again.
   *
   * @param range the range that must be covered
   * @param access bits of {@link Access} that the registration must allow, at least one
   * @throws IllegalArgumentException if {@code access} has no bit
   * @throws IllegalStateException if this endpoint is closing or closed, or the range's arena is
   *     closed
   * @throws RegistrationException if a rail refuses; nothing is registered then
   */
  public DataRegistration acquire(BufferRange range, long access) {
    refuseIfClosing(range);
    return cache.acquire(space, dataRails, range, access);
  }

  /**
   * As {@link #acquire(BufferRange, long)}, with the range given in parts, so that a hit needs no
   * object.
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
    if (closing) {
      refuseIfClosing(BufferRange.device(kind, device, allocationId, address, lengthBytes));
    }
    return cache.acquire(
        space, dataRails, kind, device, allocationId, address, lengthBytes, access);
  }

  /**
   * As {@link #acquire(BufferRange, long)}, and begins a use instead of leasing it, for one
   * request: {@link DataRegistration#endUse} gives it back.
   *
   * @throws IllegalStateException also if it was closed at once, for memory about to be freed
   */
  public DataRegistration use(BufferRange range, long access) {
    refuseIfClosing(range);
    return cache.use(space, dataRails, range, access);
  }

  /**
   * As {@link #use(BufferRange, long)}, for host memory of an arena; a hit needs no object.
   *
   * @param arena scope of the arena, which must not be the global one
   * @param address its first byte
   * @param lengthBytes its length, at least 1
   * @param access bits of {@link Access}, at least one
   */
  public DataRegistration use(
      MemorySegment.Scope arena, long address, long lengthBytes, long access) {
    if (closing) {
      refuseIfClosing(BufferRange.host(arena, address, lengthBytes));
    }
    return cache.use(space, dataRails, arena, address, lengthBytes, access);
  }

  /**
   * Registers a control mailbox on all control rails.
   *
   * @param access bits of {@link Access}, including remote access
   * @throws IllegalArgumentException if the access has no remote access
   * @throws IllegalStateException if this endpoint is closed
   * @throws RegistrationException if a rail refuses; nothing is registered then
   */
  public ControlRegistration registerControl(BufferRange range, long access) {
    if (!Access.isRemote(access)) {
      throw new IllegalArgumentException(
          "a control mailbox is for peers; access %s is not: register it as local"
              .formatted(Access.describe(access)));
    }
    return open(
        RegistrationRole.CONTROL,
        rails.controlRails(),
        range,
        access,
        regions -> new ControlRegistration(regions, this::forget));
  }

  /**
   * Registers memory that no peer accesses.
   *
   * @param on the rails of this endpoint that use it
   * @param access as few bits of {@link Access} as possible, none of them remote
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
    return open(
        RegistrationRole.LOCAL,
        List.copyOf(on),
        range,
        access,
        regions -> new LocalRegistration(regions, this::forget));
  }

  private <T extends OwnedRegistration> T open(
      RegistrationRole role,
      List<Rail> on,
      BufferRange range,
      long access,
      Function<RegionSet, T> registration) {
    return cache.openOwn(
        owner,
        role,
        space,
        on,
        range,
        access,
        regions -> {
          T opened = registration.apply(regions);
          synchronized (owned) {
            owned.add(opened);
          }
          return opened;
        });
  }

  private void refuseIfClosing(BufferRange range) {
    if (closing) {
      throw new IllegalStateException(
          "cannot register %s: %s is closing".formatted(range, rails.label()));
    }
  }

  private void forget(OwnedRegistration registration) {
    synchronized (owned) {
      owned.remove(registration);
    }
  }

  /**
   * Adds everything that is registered for this endpoint to the graph that closes the endpoint, in
   * the order that the scope requires. After this call nothing can be registered here.
   * Registrations that other threads have begun are closed, too.
   */
  public void addTo(OwnershipGraph graph) {
    closing = true;
    scope.orderCached(graph, new CachedRegistrations(cache, space), rails);
    AutoCloseable own = this::closeOwned;
    graph.own(own, "mailboxes and pools of " + rails.label());
    scope.order(graph, own, all());
    for (Rail rail : all()) {
      graph.closesBefore(rail.endpoint(), device);
    }
  }

  private void closeOwned() {
    cache.awaitOpenings(owner, "close the mailboxes and pools of " + rails.label());
    List<OwnedRegistration> open;
    synchronized (owned) {
      open = List.copyOf(owned);
    }
    List<String> left = new ArrayList<>();
    List<RuntimeException> failures = new ArrayList<>();
    for (OwnedRegistration registration : open) {
      try {
        registration.close();
      } catch (RuntimeException e) {
        left.add(registration.toString());
        failures.add(e);
      }
    }
    if (!left.isEmpty()) {
      throw new TeardownException("cannot close " + String.join(", ", left), failures);
    }
  }

  private List<Rail> all() {
    List<Rail> all = new ArrayList<>(rails.dataRails());
    all.addAll(rails.controlRails());
    return all;
  }

  /** All registrations that the cache holds for one scope, as one thing to close. */
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
