package org.jofi.mr;

import org.jofi.fabric.Access;

/**
 * A user's buffer, host or GPU, registered on the data rails of a multi-rail endpoint and on no
 * other. It comes from the cache, which owns its regions; users hold leases of it.
 *
 * <p><b>Lifecycle.</b>
 *
 * <pre>
 *             acquire: miss             last release or endUse
 *  (nothing) ---------------&gt; LEASED -----------------------&gt; IDLE
 *                             ^  |  ^                        /  |
 *                     endUse  |  |   \----------------------/   |
 *                   (last one)|  | beginUse   acquire: hit      | evicted, superseded,
 *                             |  v                              | cache off, allocation unknown
 *                            IN USE                             v
 *                                    LEASED ----------------&gt; CLOSED
 *                                       invalidated, purged
 * </pre>
 *
 * A registration in use is never closed, except by an abort whose drain ran into its bound.
 *
 * <p><b>Threads.</b> Any. {@link #beginUse}, {@link #endUse} and {@link #release} are one atomic
 * addition on this object, without allocation; descriptors, keys and addresses are plain reads.
 */
public final class DataRegistration extends LeaseCount {
  private final CacheSpace space;
  private final RegionSet regions;
  private final long first;
  private final long last;
  private final long allocationId;
  private final long access;
  private final long sequence;

  /** The cache's, under its lock: the stamp that it is queued for eviction by. */
  long queuedStamp;

  /** The cache's, under its lock: whether it waits to be evicted. */
  boolean queued;

  DataRegistration(
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

  /** What is registered. A lease may have been acquired for a part of it. */
  public BufferRange range() {
    return regions.range();
  }

  /** Bits of {@link Access} that it is registered for. */
  public long access() {
    return access;
  }

  /** On how many data rails. */
  public int rails() {
    return regions.rails();
  }

  /** What posting calls on that data rail take as descriptor. */
  public long descriptor(int rail) {
    return regions.descriptor(rail);
  }

  /**
   * The key for peers that reach it through that data rail.
   *
   * @throws IllegalStateException if it is not registered for remote access
   */
  public long key(int rail) {
    if (!Access.isRemote(access)) {
      throw new IllegalStateException(this + " has no remote access, and no key");
    }
    return regions.key(rail);
  }

  /**
   * What a peer calls an address of it on that data rail: the address itself or its offset, as
   * negotiated.
   *
   * @throws IndexOutOfBoundsException if the address is outside of the registration
   */
  public long remoteAddress(int rail, long address) {
    return regions.remoteAddress(rail, address);
  }

  /** Whether its regions are there to be used; false once it was invalidated, purged or evicted. */
  public boolean isOpen() {
    return !isClosed();
  }

  /**
   * A request starts to use it. Until {@link #endUse} it is not closed.
   *
   * @return false if it was invalidated or purged meanwhile; the request must not be posted
   * @throws IllegalStateException if the caller holds no lease
   */
  public boolean beginUse() {
    return tryUse(cache.epoch()) || cache.tryUseSettled(this);
  }

  /**
   * The request's last operation completed.
   *
   * @throws IllegalStateException if no use was begun
   */
  public void endUse() {
    drop(USE, cache.epoch());
  }

  /**
   * Gives one lease back. The cache keeps the registration or closes it, as its budgets say; a
   * registration that was invalidated or purged may, and should, be released too.
   *
   * @throws IllegalStateException if it was released more often than acquired
   */
  public void release() {
    drop(LEASE, cache.epoch());
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
