package org.jofi.mr.cache;

import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.jofi.mr.registration.CacheLimits;
import org.jspecify.annotations.Nullable;

/**
 * Registrations that became idle, least recently used first. Under the cache's lock.
 *
 * <p>A hit leases a queued registration without removing it from the queue, because hits take no
 * lock. So the queue checks a registration when its turn comes. If it was used since it was queued,
 * it moves to its right place. If it is leased now, it leaves the queue, and its last lessee puts
 * it back.
 */
final class IdleQueue {
  private final CacheLimits limits;
  private final TreeSet<CachedRegistration> queue =
      new TreeSet<>(
          Comparator.comparingLong((CachedRegistration registration) -> registration.queuedStamp)
              .thenComparingLong(CachedRegistration::sequence));
  private long bytes;

  IdleQueue(CacheLimits limits) {
    this.limits = limits;
  }

  /** Whether a registration may be kept at all. */
  boolean keeps(CachedRegistration registration) {
    return registration.isOfKnownAllocation()
        && !registration.isFreed()
        && limits.idleEntries() > 0
        && registration.range().lengthBytes() <= limits.idleBytes();
  }

  boolean isOverBudget() {
    return queue.size() > limits.idleEntries() || bytes > limits.idleBytes();
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  void add(CachedRegistration registration) {
    registration.queuedStamp = registration.stamp();
    registration.queued = true;
    queue.add(registration);
    bytes += registration.range().lengthBytes();
  }

  void remove(CachedRegistration registration) {
    if (registration.queued) {
      queue.remove(registration);
      registration.queued = false;
      bytes -= registration.range().lengthBytes();
    }
  }

  List<CachedRegistration> all() {
    return List.copyOf(queue);
  }

  /**
   * Looks at the first registration. Marks it as closed and returns it if it is idle, else returns
   * null.
   */
  @Nullable CachedRegistration closeFirst() {
    CachedRegistration first = queue.first();
    remove(first);
    if (first.stamp() != first.queuedStamp) {
      add(first);
      return null;
    }
    if (first.closeIfIdle()) {
      return first;
    }
    if (!first.askToBeTold()) {
      add(first);
    }
    return null;
  }
}
