package org.jofi.mr.cache;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts who needs a registration, in one 64-bit word: leases (handles that users hold) and uses
 * (requests in flight), with two flags. Any thread.
 *
 * <p>A cache hit writes only this word, the stamp and the count of hits, which are next to it.
 * Taking and dropping are one atomic addition each and never fail spuriously. Only the cache closes
 * a registration, with a compare-and-set.
 */
abstract class LeaseCount {
  static final long LEASE = 1L;
  static final long USE = 1L << 31;

  /** Hits are added to the cache's counter in batches of this size; a power of two. */
  static final int HIT_BATCH = 64;

  /** Flag: the thread that drops the last lease or use must tell the cache. */
  private static final long TELL = 1L << 62;

  /** Flag: closed or closing, so that it cannot be taken any more. The sign bit. */
  private static final long CLOSED = 1L << 63;

  private static final long LEASES = USE - 1;
  private static final long COUNTS = TELL - 1;
  private static final long USES = COUNTS & ~LEASES;

  private static final VarHandle STATE;
  private static final VarHandle STAMP;
  private static final VarHandle HITS;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(LeaseCount.class, "state", long.class);
      STAMP = lookup.findVarHandle(LeaseCount.class, "stamp", long.class);
      HITS = lookup.findVarHandle(LeaseCount.class, "hits", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** A new registration has one lease, and is not in the queue for eviction. */
  @SuppressWarnings("unused") // through STATE
  private volatile long state = LEASE | TELL;

  /**
   * When it was last used: the cache's epoch. Races are harmless, since it is only a hint for LRU.
   */
  @SuppressWarnings("unused") // through STAMP
  private long stamp;

  @SuppressWarnings("unused") // through HITS
  private int hits;

  /** Kept next to the counts because every release reads it. */
  final RegistrationCache cache;

  LeaseCount(RegistrationCache cache) {
    this.cache = cache;
  }

  /**
   * Counts a hit here, because a hit writes this cache line anyway. Returns true for each {@link
   * #HIT_BATCH}th.
   */
  final boolean countHit() {
    return ((int) HITS.getAndAdd(this, 1) & (HIT_BATCH - 1)) == HIT_BATCH - 1;
  }

  /** Hits counted since the last full batch. */
  final int hitsOfOpenBatch() {
    return (int) HITS.getOpaque(this) & (HIT_BATCH - 1);
  }

  /** Takes a lease. Returns false, and takes none, if it is closed. */
  final boolean tryLease(long epoch) {
    STAMP.setOpaque(this, epoch);
    if ((long) STATE.getAndAdd(this, LEASE) >= 0) {
      return true;
    }
    drop(LEASE, epoch);
    return false;
  }

  /**
   * Takes a use. Returns false, and takes none, if it is closed.
   *
   * @throws IllegalStateException if nobody holds a lease
   */
  final boolean tryUse(long epoch) {
    long before = (long) STATE.getAndAdd(this, USE);
    if (before >= 0 && (before & LEASES) != 0) {
      return true;
    }
    drop(USE, epoch);
    if (before >= 0) {
      throw new IllegalStateException(this + " is used, but nobody holds a lease");
    }
    return false;
  }

  /** Drops a lease or a use, and tells the cache if it is the last and the cache wants to know. */
  final void drop(long what, long epoch) {
    STAMP.setOpaque(this, epoch);
    long before = (long) STATE.getAndAdd(this, -what);
    long counted = what == LEASE ? before & LEASES : before & USES;
    if (counted == 0) {
      STATE.getAndAdd(this, what);
      throw new IllegalStateException(
          this + (what == LEASE ? " was released more often than leased" : " has no use to end"));
    }
    // Tells even while it is closed: if closing is taken back, nobody else would tell.
    if (((before - what) & (TELL | COUNTS)) == TELL) {
      becameIdle(what == USE);
    }
  }

  /**
   * Called when nobody needs it any more and the cache has asked to be told.
   *
   * @param byUse whether the last use ended, perhaps with a lock held; else the last lease, without
   */
  abstract void becameIdle(boolean byUse);

  final long stamp() {
    return (long) STAMP.getOpaque(this);
  }

  final boolean isClosed() {
    return (long) STATE.getAcquire(this) < 0;
  }

  final int leases() {
    return (int) ((long) STATE.getAcquire(this) & LEASES);
  }

  final int uses() {
    return (int) (((long) STATE.getAcquire(this) & USES) / USE);
  }

  /** Asks that the cache is told when it becomes idle. Returns false if it is already idle. */
  final boolean askToBeTold() {
    long now = (long) STATE.getAcquire(this);
    while ((now & COUNTS) != 0) {
      long seen = (long) STATE.compareAndExchange(this, now, now | TELL);
      if (seen == now) {
        return true;
      }
      now = seen;
    }
    return false;
  }

  /**
   * Takes back {@link #askToBeTold}. Returns false if it is leased again; the cache will be told
   * then.
   */
  final boolean stopTelling() {
    return STATE.compareAndSet(this, TELL, 0L);
  }

  /** Marks it as closed if it has no lease and no use. */
  final boolean closeIfIdle() {
    return STATE.compareAndSet(this, TELL, TELL | CLOSED) || STATE.compareAndSet(this, 0L, CLOSED);
  }

  /** Marks it as closed even if it is leased, unless it is in use or already closed. */
  final boolean closeIfUnused() {
    long now = (long) STATE.getAcquire(this);
    while (now >= 0 && (now & USES) == 0) {
      long seen = (long) STATE.compareAndExchange(this, now, now | CLOSED);
      if (seen == now) {
        return true;
      }
      now = seen;
    }
    return false;
  }

  /** Marks it as closed even if it is in use. */
  final void closeRegardless() {
    STATE.getAndBitwiseOr(this, CLOSED);
  }

  /** Takes back {@link #closeIfUnused}, before anything was closed. */
  final void reopen() {
    STATE.getAndBitwiseAnd(this, ~CLOSED);
  }
}
