package org.jofi.mr.cache;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.function.Predicate;
import org.jofi.fabric.Access;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jspecify.annotations.Nullable;

/**
 * A data registration as the cache has it: the regions that it owns, and where it is listed. What
 * the cache keeps about it is under the cache's lock.
 */
final class CachedRegistration extends LeaseCount implements DataRegistration {
  private final CacheSpace space;
  private final RegionSet regions;
  private final long first;
  private final long last;
  private final long allocationId;

  /**
   * Weak, so that an automatic arena can be collected while its memory is kept registered. All
   * registrations of an arena share one, which is therefore in the CPU's caches.
   */
  private final @Nullable WeakReference<MemorySegment.Scope> scope;

  private final long access;
  private final long sequence;

  /** Belongs to the cache, under its lock: the stamp that orders it in the queue for eviction. */
  long queuedStamp;

  /** Belongs to the cache, under its lock: whether it is in the queue for eviction. */
  boolean queued;

  CachedRegistration(
      RegistrationCache cache,
      CacheSpace space,
      RegionSet regions,
      @Nullable WeakReference<MemorySegment.Scope> scope,
      long access,
      long sequence) {
    super(cache);
    this.space = space;
    this.regions = regions;
    this.first = IntervalIndex.order(regions.range().address());
    this.last = first + regions.range().lengthBytes() - 1;
    this.allocationId = regions.range().allocationId();
    this.scope = scope;
    this.access = access;
    this.sequence = sequence;
  }

  @Override
  public BufferRange range() {
    return regions.range();
  }

  @Override
  public long access() {
    return access;
  }

  @Override
  public int rails() {
    return regions.rails();
  }

  @Override
  public long descriptor(int rail) {
    return regions.descriptor(rail);
  }

  @Override
  public long key(int rail) {
    if (!Access.isRemote(access)) {
      throw new IllegalStateException(this + " has no remote access, and no key");
    }
    return regions.key(rail);
  }

  @Override
  public long remoteAddress(int rail, long address) {
    return regions.remoteAddress(rail, address);
  }

  @Override
  public boolean isOpen() {
    return !isClosed();
  }

  @Override
  public boolean beginUse() {
    return tryUse(cache.epoch()) || cache.tryUseSettled(this);
  }

  @Override
  public void endUse() {
    drop(USE, cache.epoch());
  }

  @Override
  public void release() {
    drop(LEASE, cache.epoch());
  }

  @Override
  public void retire() {
    cache.retire(this);
  }

  @Override
  void hitBatch() {
    cache.countHits(HIT_BATCH);
  }

  @Override
  void becameIdle(boolean byUse) {
    if (byUse) {
      cache.endedUse(this);
    } else {
      cache.becameIdle(this);
    }
  }

  CacheSpace space() {
    return space;
  }

  RegionSet regions() {
    return regions;
  }

  long first() {
    return first;
  }

  long last() {
    return last;
  }

  /** Whether it is memory of that allocation; of an unknown one if there is neither. */
  boolean isOf(long id, MemorySegment.@Nullable Scope wanted) {
    WeakReference<MemorySegment.Scope> mine = scope;
    return allocationId == id
        && (mine == null ? wanted == null : wanted != null && mine.refersTo(wanted));
  }

  /** Whether both are memory of the same allocation, which still exists, or of an unknown one. */
  boolean isOfSameAllocation(CachedRegistration other) {
    return isOf(other.allocationId, other.scope == null ? null : other.scope.get())
        && (scope == null) == (other.scope == null);
  }

  boolean isOfKnownAllocation() {
    return allocationId != BufferRange.UNKNOWN_ALLOCATION || scope != null;
  }

  /** Whether its memory was freed, which is asked for memory without an arena. */
  boolean isFreed(Predicate<BufferRange> freed) {
    return scope == null ? freed.test(regions.range()) : isFreed();
  }

  /** Whether its memory was freed: its arena is closed, or was collected. */
  boolean isFreed() {
    if (scope == null) {
      return false;
    }
    MemorySegment.Scope arena = scope.get();
    return arena == null || !arena.isAlive();
  }

  long sequence() {
    return sequence;
  }

  boolean covers(long id, MemorySegment.@Nullable Scope wanted, long fromFirst, long toLast) {
    return first <= fromFirst && toLast <= last && isOf(id, wanted);
  }

  boolean contains(CachedRegistration inner) {
    return first <= inner.first && inner.last <= last && isOfSameAllocation(inner);
  }

  @Override
  public String toString() {
    return "data registration %d of %s for %s on %d rail(s), generation %d"
        .formatted(sequence, range(), Access.describe(access), rails(), space.generation());
  }
}
