package org.jofi.mr;

import org.jofi.fabric.Access;

/**
 * The registration of an application's buffer, in host or GPU memory, on the data rails of a
 * multi-rail endpoint only. The cache makes it and owns its regions; users lease it.
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
 * A registration in use is never closed, except by an abort after its time limit.
 *
 * <p><b>Threads.</b> Any thread. {@link #beginUse}, {@link #endUse} and {@link #release} are one
 * atomic addition on this object each and allocate nothing. Descriptors, keys and addresses are
 * plain reads.
 */
public final class DataRegistration extends LeaseCount {
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

  /** The registered memory. A lease may have been acquired for a part of it only. */
  public BufferRange range() {
    return regions.range();
  }

  /** Bits of {@link Access} that it is registered for. */
  public long access() {
    return access;
  }

  /** The number of data rails that it is registered on. */
  public int rails() {
    return regions.rails();
  }

  /** The descriptor for posting calls on this data rail. */
  public long descriptor(int rail) {
    return regions.descriptor(rail);
  }

  /**
   * The key for peers that access it through this data rail.
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
   * The address that a peer uses on this data rail for a local address: the address itself or its
   * offset, as negotiated.
   *
   * @throws IndexOutOfBoundsException if the address is not within the registration
   */
  public long remoteAddress(int rail, long address) {
    return regions.remoteAddress(rail, address);
  }

  /** Whether its regions can be used; false once it was invalidated, purged or evicted. */
  public boolean isOpen() {
    return !isClosed();
  }

  /**
   * Called when a request starts to use it. It is not closed until {@link #endUse}.
   *
   * @return false if it was invalidated or purged meanwhile; the request must not be posted
   * @throws IllegalStateException if the caller holds no lease
   */
  public boolean beginUse() {
    return tryUse(cache.epoch()) || cache.tryUseSettled(this);
  }

  /**
   * Called when the request's last operation has completed.
   *
   * @throws IllegalStateException without an earlier {@link #beginUse}
   */
  public void endUse() {
    drop(USE, cache.epoch());
  }

  /**
   * Gives one lease back. The cache keeps the registration or closes it, depending on its budgets.
   * Release a registration that was invalidated or purged as well.
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
