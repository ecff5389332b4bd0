package org.jofi.mr.cache;

import org.jofi.fabric.Access;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;

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
  private final long access;
  private final long sequence;

  /** Belongs to the cache, under its lock: the stamp that orders it in the queue for eviction. */
  long queuedStamp;

  /** Belongs to the cache, under its lock: whether it is in the queue for eviction. */
  boolean queued;

  CachedRegistration(
      RegistrationCache cache, CacheSpace space, RegionSet regions, long access, long sequence) {
    super(cache);
    this.space = space;
    this.regions = regions;
    this.first = IntervalIndex.order(regions.range().address());
    this.last = first + regions.range().lengthBytes() - 1;
    this.allocationId = regions.range().allocationId();
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
  void becameIdle() {
    cache.becameIdle(this);
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

  long allocationId() {
    return allocationId;
  }

  long sequence() {
    return sequence;
  }

  boolean covers(long allocation, long fromFirst, long toLast) {
    return first <= fromFirst && toLast <= last && allocationId == allocation;
  }

  @Override
  public String toString() {
    return "data registration %d of %s for %s on %d rail(s), generation %d"
        .formatted(sequence, range(), Access.describe(access), rails(), space.generation());
  }
}
