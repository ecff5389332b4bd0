package org.jofi.mr.cache;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.function.Predicate;
import org.jofi.fabric.Access;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jspecify.annotations.Nullable;

/**
 * A data registration as the cache has it: the regions that it owns, and where it is listed. What
 * the cache keeps about it is under the cache's lock.
 */
final class CachedRegistration extends CachedRange implements DataRegistration {
  private final CacheSpace space;
  private final RegionSet regions;
  private final long access;
  private final boolean isHostMemory;
  private final long sequence;

  /** Belongs to the cache, under its lock: the stamp that orders it in the queue for eviction. */
  int queuedStamp;

  /** Belongs to the cache, under its lock: whether it is in the queue for eviction. */
  boolean queued;

  CachedRegistration(
      RegistrationCache cache,
      CacheSpace space,
      RegionSet regions,
      @Nullable WeakReference<MemorySegment.Scope> scope,
      long access,
      long sequence) {
    super(cache, regions.range(), scope);
    this.space = space;
    this.regions = regions;
    this.access = access;
    isHostMemory = regions.range().kind() == MemoryKind.HOST;
    this.sequence = sequence;
  }

  @Override
  public BufferRange range() {
    return regions.range();
  }

  @Override
  public boolean isHostMemory() {
    return isHostMemory;
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

  /** Whether its memory was freed, which is asked for memory without an arena. */
  boolean isFreed(Predicate<BufferRange> freed) {
    return isOfArena() ? isFreed() : freed.test(regions.range());
  }

  long sequence() {
    return sequence;
  }

  @Override
  public String toString() {
    return "data registration %d of %s for %s on %d rail(s), generation %d"
        .formatted(sequence, range(), Access.describe(access), rails(), space.generation());
  }
}
