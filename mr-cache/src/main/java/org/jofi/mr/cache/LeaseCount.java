package org.jofi.mr.cache;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts who needs a registration, in one 64-bit word: leases (handles that users hold) and uses
 * (requests in flight), with two flags, and the hits of the cache. Any thread.
 *
 * <pre>
 *  63    58 57     56   55   28 27      0
 * | hits   |closed|tell| uses  | leases  |
 * </pre>
 *
 * <p>A cache hit writes only this word, and the stamp next to it. Taking and dropping are one
 * atomic addition each and never fail spuriously. Only the cache closes a registration, with a
 * compare-and-set.
 */
abstract class LeaseCount {
  static final long LEASE = 1L;
  static final long USE = 1L << 28;

  /** Flag: the thread that drops the last lease or use must tell the cache. */
  private static final long TELL = 1L << 56;

  /** Flag: closed or closing, so that it cannot be taken any more. */
  private static final long CLOSED = 1L << 57;

  private static final int HIT_SHIFT = 58;

  /** A hit; in the highest bits, where one too many falls off. */
  private static final long HIT = 1L << HIT_SHIFT;

  /** Hits are added to the cache's counter in batches of this size. */
  static final int HIT_BATCH = 1 << (Long.SIZE - HIT_SHIFT);

  private static final long LEASES = USE - 1;
  private static final long COUNTS = TELL - 1;
  private static final long USES = COUNTS & ~LEASES;

  private static final VarHandle STATE;
  private static final VarHandle STAMP;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(LeaseCount.class, "state", long.class);
      STAMP = lookup.findVarHandle(LeaseCount.class, "stamp", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** A new registration has one lease, and is not in the queue for eviction. */
  @SuppressWarnings("unused") // through STATE
  private volatile long state = LEASE | TELL;

  /**
   * When it was last used: the cache's epoch. Races are harmless, since it is only a hint for LRU.
   * Half a word, so that what a hit touches is short.
   */
  @SuppressWarnings("unused") // through STAMP
  private int stamp;

  /** Kept next to the counts because every release reads it. */
  final RegistrationCache cache;

  LeaseCount(RegistrationCache cache) {
    this.cache = cache;
  }

  /** Hits counted since the last full batch. */
  final int hitsOfOpenBatch() {
    return (int) ((long) STATE.getOpaque(this) >>> HIT_SHIFT);
  }

  /**
   * Takes a lease or a use, and counts a hit. Returns false, and does neither, if it is closed.
   *
   * @param what {@link #LEASE}, or {@link #USE} of somebody who needs no lease
   */
  final boolean tryHit(long what, int epoch) {
    STAMP.setOpaque(this, epoch);
    long before = (long) STATE.getAndAdd(this, HIT + what);
    if ((before & CLOSED) != 0) {
      STATE.getAndAdd(this, -HIT);
      drop(what, epoch);
      return false;
    }
    if (before >>> HIT_SHIFT == HIT_BATCH - 1) {
      hitBatch();
    }
    return true;
  }

  /** Called after {@link #HIT_BATCH} hits. */
  abstract void hitBatch();

  /**
   * Takes a use. Returns false, and takes none, if it is closed.
   *
   * @throws IllegalStateException if nobody holds a lease or uses it
   */
  final boolean tryUse(int epoch) {
    long before = (long) STATE.getAndAdd(this, USE);
    boolean open = (before & CLOSED) == 0;
    if (open && (before & COUNTS) != 0) {
      return true;
    }
    drop(USE, epoch);
    if (open) {
      throw new IllegalStateException(this + " is used, but nobody holds a lease or a use");
    }
    return false;
  }

  /** Drops a lease or a use, and tells the cache if it is the last and the cache wants to know. */
  final void drop(long what, int epoch) {
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

  final int stamp() {
    return (int) STAMP.getOpaque(this);
  }

  final boolean isClosed() {
    return !isOpen();
  }

  /** Whether it can be taken. */
  public final boolean isOpen() {
    return ((long) STATE.getAcquire(this) & CLOSED) == 0;
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
    return flipIf(COUNTS | TELL | CLOSED, TELL, TELL);
  }

  /** Changes a flag, if those of these bits are set and no others. Returns whether it did. */
  private boolean flipIf(long these, long set, long flag) {
    long now = (long) STATE.getAcquire(this);
    while ((now & these) == set) {
      long seen = (long) STATE.compareAndExchange(this, now, now ^ flag);
      if (seen == now) {
        return true;
      }
      now = seen;
    }
    return false;
  }

  /** Marks it as closed if it has no lease and no use. */
  final boolean closeIfIdle() {
    return flipIf(COUNTS | CLOSED, 0, CLOSED);
  }

  /** Marks it as closed even if it is leased, unless it is in use or already closed. */
  final boolean closeIfUnused() {
    return flipIf(USES | CLOSED, 0, CLOSED);
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
