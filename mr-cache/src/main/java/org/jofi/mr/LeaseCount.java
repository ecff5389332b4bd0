package org.jofi.mr;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Who needs a registration, in one word: leases (handles that users hold) and uses (requests in
 * flight), with two flags. Any thread.
 *
 * <p>This word, and the stamp and the count of hits beside it, are all that a cache hit writes.
 * Taking and dropping are one atomic addition each and never fail spuriously; only the transition
 * to closed is a compare-and-set, and it is the cache's.
 */
abstract class LeaseCount {
  static final long LEASE = 1L;
  static final long USE = 1L << 31;

  /** Hits are handed on in batches of so many; a power of two. */
  static final int HIT_BATCH = 64;

  /** The next one who leaves it idle must tell the cache. */
  private static final long TELL = 1L << 62;

  /** Closed or closing: not to be taken any more. The sign bit. */
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

  /** Born with one lease, and known to nobody who would evict it. */
  @SuppressWarnings("unused") // through STATE
  private volatile long state = LEASE | TELL;

  /** When it was last used: the cache's epoch. Races are harmless, it is only a hint for LRU. */
  @SuppressWarnings("unused") // through STAMP
  private long stamp;

  @SuppressWarnings("unused") // through HITS
  private int hits;

  /** Here, beside the counts, because every release reads it. */
  final RegistrationCache cache;

  LeaseCount(RegistrationCache cache) {
    this.cache = cache;
  }

  /** Counts a hit, here where the cache line is at hand. True for each {@link #HIT_BATCH}th. */
  final boolean countHit() {
    return ((int) HITS.getAndAdd(this, 1) & (HIT_BATCH - 1)) == HIT_BATCH - 1;
  }

  /** Hits counted since the last of those that were told of. */
  final int hitsOfOpenBatch() {
    return (int) HITS.getOpaque(this) & (HIT_BATCH - 1);
  }

  /** Takes a lease. False, with nothing taken, if it is closed. */
  final boolean tryLease(long epoch) {
    STAMP.setOpaque(this, epoch);
    if ((long) STATE.getAndAdd(this, LEASE) >= 0) {
      return true;
    }
    drop(LEASE, epoch);
    return false;
  }

  /**
   * Takes a use. False, with nothing taken, if it is closed.
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
    // Also while it is closed: if that is taken back, nobody else would tell.
    if (((before - what) & (TELL | COUNTS)) == TELL) {
      becameIdle();
    }
  }

  /** Nobody needs it any more, and the cache had asked to be told. Called without locks. */
  abstract void becameIdle();

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

  /** Asks that the next one who leaves it idle tells the cache. False if it is idle already. */
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

  /** Takes back {@link #askToBeTold}. False if it is leased again: then it will be told. */
  final boolean stopTelling() {
    return STATE.compareAndSet(this, TELL, 0L);
  }

  /** Closes it if nobody needs it. */
  final boolean closeIfIdle() {
    return STATE.compareAndSet(this, TELL, TELL | CLOSED) || STATE.compareAndSet(this, 0L, CLOSED);
  }

  /** Closes it under its lessees, unless it is in use or closed. */
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

  /** Closes it whoever needs it. */
  final void closeRegardless() {
    STATE.getAndBitwiseOr(this, CLOSED);
  }

  /** Takes back {@link #closeIfUnused}, before anything was closed. */
  final void reopen() {
    STATE.getAndBitwiseAnd(this, ~CLOSED);
  }
}
