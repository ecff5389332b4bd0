package org.jofi.mr;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.agrona.collections.LongHashSet;

/**
 * What the cache's one lock guards: which registrations are in transit, idle, or stuck, and which
 * arenas live. Every method but {@link #lock} and {@link #unlock} needs the lock. It is held for
 * bookkeeping only, never while a provider works.
 */
final class CacheLedger {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition settled = lock.newCondition();
  private final long waitNs;
  private final List<Transit> transits = new ArrayList<>();
  private final LongHashSet liveArenas = new LongHashSet();
  private long sequence;

  final List<CacheSpace> spaces = new ArrayList<>();
  final IdleQueue idle;

  /** Regions that a provider refused to close; to be tried again. */
  final List<Closing> stuck = new ArrayList<>();

  /** No space is opened any more. */
  boolean closed;

  CacheLedger(CacheLimits limits) {
    waitNs = limits.waitNs();
    idle = new IdleQueue(limits);
  }

  void lock() {
    lock.lock();
  }

  void unlock() {
    lock.unlock();
  }

  long nextSequence() {
    return ++sequence;
  }

  void depart(Transit transit) {
    transits.add(transit);
  }

  /** Ends a transit; of equal ones, any. */
  void arrive(Transit transit) {
    transits.remove(transit);
    settled.signalAll();
  }

  boolean isInTransit(Predicate<Transit> which) {
    return transits.stream().anyMatch(which);
  }

  /**
   * Waits, without the lock, for other threads to bring something about.
   *
   * @param leftNs how long at most
   * @param what the caller wants to do, for errors
   * @return how long is left
   * @throws RegistrationException if nothing is left, or the thread is interrupted
   */
  @SuppressWarnings("WaitNotInLoop") // Callers loop: what they wait for is theirs.
  long await(long leftNs, String what) {
    if (leftNs <= 0) {
      throw new RegistrationException(
          "cannot %s: other threads have been registering or closing the same memory for %d ms"
              .formatted(what, waitNs / 1_000_000),
          null,
          null);
    }
    try {
      return settled.awaitNanos(leftNs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RegistrationException(
          "cannot %s: interrupted while another thread registers or closes the same memory"
              .formatted(what),
          e,
          null);
    }
  }

  /** Waits until nothing of the kind is in transit. */
  void awaitNone(Predicate<Transit> which, String what) {
    long leftNs = waitNs;
    while (isInTransit(which)) {
      leftNs = await(leftNs, what);
    }
  }

  /** Waits for those that are in transit now, and no others. False if there are none. */
  boolean awaitThose(Predicate<Transit> which, String what) {
    List<Transit> now = transits.stream().filter(which).toList();
    awaitNone(now::contains, what);
    return !now.isEmpty();
  }

  long waitNs() {
    return waitNs;
  }

  void setArenaLive(long id, boolean live) {
    if (live) {
      liveArenas.add(id);
    } else {
      liveArenas.remove(id);
    }
  }

  /** Whether memory of that allocation may be registered: any but that of arenas not open here. */
  boolean isLive(long allocationId) {
    return allocationId >= 0 || liveArenas.contains(allocationId);
  }
}
