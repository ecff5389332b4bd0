package org.jofi.mr.cache;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.agrona.concurrent.NanoClock;
import org.jofi.counters.written.CounterBlock;
import org.jofi.fabric.Access;
import org.jofi.fabric.Domain;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.key.KeySource;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.region.RegistrationRole;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheCounters;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationBusyException;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.registration.RequestNames;
import org.jofi.mr.scope.MrScope;
import org.jofi.mr.scope.Rail;
import org.jofi.mr.teardown.Failures;
import org.jspecify.annotations.Nullable;

/**
 * The data registrations of one device. They are shared, and kept for the next user of the same
 * memory. Any thread.
 *
 * <p><b>What a hit is.</b> An open registration serves a request if scope, kind, device and
 * allocation are the same, both are by address or both through a dma-buf, the access is the same or
 * more, and the registered range contains the requested one byte for byte. Sharing a page is not
 * enough.
 *
 * <p><b>Threads.</b> A hit takes no lock; the only thing it writes that another hit reads is the
 * registration's own lease count. Misses, closings and the queue of idle registrations share one
 * lock. It is held for bookkeeping only, never during a provider's call. A thread that misses on
 * memory that another thread is registering waits for that thread, up to {@link
 * CacheLimits#waitNs}.
 *
 * <p><b>Eviction.</b> The least recently used registration is evicted first, where time is the
 * number of registrations made so far. A registration that a new one contains is superseded: its
 * lessees keep it, but it gets no new leases, and it closes when it becomes idle.
 */
public final class RegistrationCache {
  private static final long OF_ARENA = CacheSpace.code(MemoryKind.HOST, 0, true, false);

  private final CacheCounters counters;
  private final CacheLedger ledger;
  private final CacheClosings closings;
  private final RegionOpenings openings;
  private final EndedUses ended = new EndedUses();
  private volatile int epoch;

  /** An empty cache, counted there; {@code keys} gives the keys of a NIC's domain. */
  public RegistrationCache(
      CacheLimits limits,
      NanoClock clock,
      RequestNames names,
      Function<Domain, KeySource> keys,
      CounterBlock counted) {
    this.counters = new CacheCounters(counted);
    this.ledger = new CacheLedger(limits);
    this.closings = new CacheClosings(ledger, counters, names);
    this.openings = new RegionOpenings(keys, clock, counters, closings);
  }

  /**
   * The space of a scope; opened by the first call, and found by later ones if several endpoints
   * share it.
   */
  public CacheSpace space(MrScope scope) {
    ledger.lock();
    try {
      for (CacheSpace space : ledger.spaces) {
        if (space.scope() == scope) {
          return space;
        }
      }
      if (ledger.closed) {
        throw new IllegalStateException(
            "cannot register in %s: the device's registrations are closed".formatted(scope));
      }
      CacheSpace space = new CacheSpace(scope);
      ledger.spaces.add(space);
      return space;
    } finally {
      ledger.unlock();
    }
  }

  /** The clock for recency: how many registrations were made so far. */
  int epoch() {
    return epoch;
  }

  /** Leases the registration of a range, and makes it if there is none. */
  public DataRegistration acquire(
      CacheSpace space, List<Rail> rails, BufferRange range, long access) {
    checkAccess(access);
    CachedRegistration found = space.find(range, access, LeaseCount.LEASE, epoch);
    return found == null ? miss(space, rails, range, access) : found;
  }

  /** As above, with the range in parts, so that a hit needs no object. */
  public DataRegistration acquire(
      CacheSpace space,
      List<Rail> rails,
      MemoryKind kind,
      int device,
      long allocationId,
      long address,
      long lengthBytes,
      long access) {
    checkAccess(access);
    boolean known = allocationId != BufferRange.UNKNOWN_ALLOCATION;
    long code = CacheSpace.code(kind, device, known, false);
    CachedRegistration found =
        space.find(code, allocationId, null, address, lengthBytes, access, LeaseCount.LEASE, epoch);
    return found == null
        ? miss(
            space,
            rails,
            BufferRange.device(kind, device, allocationId, address, lengthBytes),
            access)
        : found;
  }

  /** As {@link #acquire}, for host memory of an arena, and begins a use instead of leasing it. */
  public DataRegistration use(
      CacheSpace space,
      List<Rail> rails,
      MemorySegment.Scope arena,
      long address,
      long lengthBytes,
      long access) {
    checkAccess(access);
    CachedRegistration found =
        space.find(
            OF_ARENA,
            BufferRange.UNKNOWN_ALLOCATION,
            arena,
            address,
            lengthBytes,
            access,
            LeaseCount.USE,
            epoch);
    return found == null
        ? useMissed(space, rails, BufferRange.host(arena, address, lengthBytes), access)
        : found;
  }

  /** As {@link #acquire}, and begins a use instead of leasing it. */
  public DataRegistration use(CacheSpace space, List<Rail> rails, BufferRange range, long access) {
    checkAccess(access);
    CachedRegistration found = space.find(range, access, LeaseCount.USE, epoch);
    return found == null ? useMissed(space, rails, range, access) : found;
  }

  private DataRegistration useMissed(
      CacheSpace space, List<Rail> rails, BufferRange range, long access) {
    DataRegistration made = miss(space, rails, range, access);
    try {
      if (!made.beginUse()) {
        throw new IllegalStateException(
            "cannot register %s: it was closed at once, for memory about to be freed"
                .formatted(range));
      }
      return made;
    } finally {
      made.release();
    }
  }

  /** Hits that a registration had counted. */
  void countHits(int hits) {
    counters.hits(hits);
  }

  private static void checkAccess(long access) {
    if (access == 0 || (access & ~Access.ALL) != 0) {
      throw new IllegalArgumentException(
          "cannot register for access %s".formatted(Access.describe(access)));
    }
  }

  private DataRegistration miss(
      CacheSpace space, List<Rail> rails, BufferRange range, long access) {
    settle();
    Transition opening = Transition.sharedOpening(space, range, access);
    ledger.lock();
    try {
      long leftNs = ledger.waitNs();
      while (true) {
        refuseWhatIsGone(space, range);
        CachedRegistration found = space.find(range, access, LeaseCount.LEASE, epoch);
        if (found != null) {
          return found;
        }
        MemorySegment.Scope arena = range.scope();
        if (arena != null && ClosingArenas.isUndecided(arena)) {
          leftNs = ledger.awaitBriefly(leftNs, "register " + range);
        } else if (ledger.isInTransition(other -> other.willServe(space, range, access))) {
          leftNs = ledger.await(leftNs, "register " + range);
        } else {
          break;
        }
      }
      ledger.begin(opening);
      counters.missed();
    } finally {
      ledger.unlock();
    }
    @Nullable RegionSet regions = null;
    try {
      regions = openings.open(RegistrationRole.DATA, space, rails, range, access);
    } finally {
      if (regions == null) {
        end(opening);
      }
    }
    return admit(opening, regions);
  }

  private void refuseWhatIsGone(CacheSpace space, BufferRange range) {
    if (space.isClosed()) {
      throw new IllegalStateException(
          "cannot register %s: %s is closed".formatted(range, space.scope()));
    }
    MemorySegment.Scope arena = range.scope();
    if (arena != null && (!arena.isAlive() || ClosingArenas.isDecided(arena))) {
      throw new IllegalStateException("cannot register %s: its arena is closed".formatted(range));
    }
  }

  /** Makes an endpoint's own registration, unless the endpoint is closing. */
  public <T> T openOwn(
      RegistrationOwner owner,
      RegistrationRole role,
      CacheSpace space,
      List<Rail> rails,
      BufferRange range,
      long access,
      Function<RegionSet, T> registration) {
    Transition opening = Transition.ownOpening(owner, space, range, access);
    begin(opening, owner);
    try {
      return registration.apply(openings.open(role, space, rails, range, access));
    } finally {
      end(opening);
    }
  }

  /** Lists an endpoint's own registration as being made, unless the endpoint is closing. */
  private void begin(Transition opening, RegistrationOwner owner) {
    ledger.lock();
    try {
      owner.refuseIfClosing(opening.range());
      refuseWhatIsGone(opening.space(), opening.range());
      ledger.begin(opening);
    } finally {
      ledger.unlock();
    }
  }

  /** Waits until no own registration of an endpoint is being made. */
  public void awaitOpenings(RegistrationOwner owner, String what) {
    ledger.lock();
    try {
      ledger.awaitNone(transition -> owner.equals(transition.owner()), what);
    } finally {
      ledger.unlock();
    }
  }

  private void end(Transition transition) {
    ledger.lock();
    try {
      ledger.end(transition);
    } finally {
      ledger.unlock();
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // The epoch changes only under the lock.
  private CachedRegistration admit(Transition opening, RegionSet regions) {
    List<Closing> victims = new ArrayList<>();
    CachedRegistration admitted;
    ledger.lock();
    try {
      epoch = epoch + 1;
      admitted =
          new CachedRegistration(
              this,
              opening.space(),
              regions,
              ledger.weakly(opening.range().scope()),
              opening.access(),
              ledger.nextSequence());
      for (CachedRegistration old : opening.space().insert(admitted)) {
        closings.supersede(old, victims);
      }
      counters.registered(regions.range().lengthBytes());
      ledger.end(opening);
    } finally {
      ledger.unlock();
    }
    closings.finish(victims, CloseReason.RELEASED);
    return admitted;
  }

  /** As {@link DataRegistration#retire}. */
  void retire(CachedRegistration registration) {
    List<Closing> victims = new ArrayList<>();
    ledger.lock();
    try {
      if (registration.space().retire(registration)) {
        closings.supersede(registration, victims);
      }
    } finally {
      ledger.unlock();
    }
    closings.finish(victims, CloseReason.RELEASED);
  }

  /** Called when the last use of a registration ended that is not in the idle queue. */
  void endedUse(CachedRegistration registration) {
    ended.add(registration);
  }

  /** Whether there is nothing for {@link #settle} to do. Any thread, with any lock held. */
  public boolean isSettled() {
    return ended.isEmpty();
  }

  /** Closes, or keeps, registrations whose last use has ended. Without locks. */
  public void settle() {
    ended.settle(this::becameIdle);
  }

  /** Called when a registration that is not in the idle queue has no lease and no use any more. */
  void becameIdle(CachedRegistration registration) {
    List<Closing> released = new ArrayList<>();
    List<Closing> evicted = new ArrayList<>();
    ledger.lock();
    try {
      if (registration.space().isRetired(registration) || !ledger.idle.keeps(registration)) {
        if (registration.closeIfIdle()) {
          closings.start(registration, released);
        }
      } else if (registration.stopTelling()) {
        ledger.idle.add(registration);
        closings.trim(evicted);
      }
    } finally {
      ledger.unlock();
    }
    closings.finish(released, CloseReason.RELEASED);
    closings.finish(evicted, CloseReason.EVICTED);
  }

  /**
   * Takes a use of a registration that looked closed. It waits for the lock first, because a close
   * may have been begun and taken back.
   */
  boolean tryUseSettled(CachedRegistration registration) {
    ledger.lock();
    try {
      return registration.tryUse(epoch);
    } finally {
      ledger.unlock();
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
    closings.invalidate(
        List.of(
            new BufferRange(
                kind, device, BufferRange.UNKNOWN_ALLOCATION, null, address, lengthBytes, null)));
  }

  /** As above, for several ranges; all of them or none. */
  public void invalidate(List<BufferRange> ranges) {
    closings.invalidate(ranges);
  }

  /**
   * Closes every registration of a space, and the space.
   *
   * @param regardless whether to close registrations that requests still use
   */
  public void purge(CacheSpace space, boolean regardless) {
    closings.purge(space, regardless);
  }

  /**
   * Closes the regions of a space on one rail, whose endpoint is to close.
   *
   * @throws org.jofi.fabric.FabricException if a provider refuses: call it again
   */
  public void closeRail(CacheSpace space, Rail rail) {
    List<CachedRegistration> open;
    ledger.lock();
    try {
      open = List.copyOf(space.open());
    } finally {
      ledger.unlock();
    }
    open.forEach(registration -> registration.regions().closeRail(rail));
  }

  /**
   * Does {@link #purge} for all spaces, even if one fails. After that no space can be opened any
   * more.
   */
  public void purgeAll(boolean regardless) {
    setClosed(true);
    RuntimeException failure = null;
    for (CacheSpace space : spaces()) {
      try {
        closings.purge(space, regardless);
      } catch (RegistrationBusyException | RegistrationException e) {
        setClosed(false);
        failure = Failures.join(failure, e);
      } catch (RuntimeException e) {
        failure = Failures.join(failure, e);
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  private void setClosed(boolean closed) {
    ledger.lock();
    try {
      ledger.closed = closed;
    } finally {
      ledger.unlock();
    }
  }

  private List<CacheSpace> spaces() {
    ledger.lock();
    try {
      return List.copyOf(ledger.spaces);
    } finally {
      ledger.unlock();
    }
  }

  /**
   * Closes idle registrations whose memory was freed, and returns how many.
   *
   * @param freed whether memory without an arena was freed
   */
  public int closeFreed(Predicate<BufferRange> freed) {
    settle();
    return closings.closeFreed(freed);
  }

  /** Closes all idle registrations and returns how many. Those in use or leased stay open. */
  public int evictIdle() {
    settle();
    return closings.evictIdle();
  }

  /** Returns the statistics. They are exact if nobody is using the cache. */
  public CacheCounters.Snapshot statistics() {
    ledger.lock();
    try {
      long hits = 0;
      for (CacheSpace space : ledger.spaces) {
        for (CachedRegistration registration : space.open()) {
          hits += registration.hitsOfOpenBatch();
        }
      }
      for (Closing stuck : ledger.stuck) {
        CachedRegistration registration = stuck.registration();
        hits += registration == null ? 0 : registration.hitsOfOpenBatch();
      }
      return counters.snapshot(hits);
    } finally {
      ledger.unlock();
    }
  }
}
