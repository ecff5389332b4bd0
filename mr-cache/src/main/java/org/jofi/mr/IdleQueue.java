package org.jofi.mr;

import java.util.Comparator;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Registrations that became idle, least recently used first. Under the cache's lock.
 *
 * <p>A hit takes a registration from here without telling, so that hits need no lock. What is
 * queued is therefore checked when it comes up: used since, it goes back to its true place; leased
 * now, it leaves, and its last holder brings it back.
 */
final class IdleQueue {
  private final CacheLimits limits;
  private final TreeSet<DataRegistration> queue =
      new TreeSet<>(
          Comparator.comparingLong((DataRegistration registration) -> registration.queuedStamp)
              .thenComparingLong(DataRegistration::sequence));
  private long bytes;

  IdleQueue(CacheLimits limits) {
    this.limits = limits;
  }

  /** Whether such a registration may be kept at all. */
  boolean keeps(BufferRange range) {
    return range.allocationId() != BufferRange.UNKNOWN_ALLOCATION
        && limits.idleEntries() > 0
        && range.lengthBytes() <= limits.idleBytes();
  }

  boolean isOverBudget() {
    return queue.size() > limits.idleEntries() || bytes > limits.idleBytes();
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  void add(DataRegistration registration) {
    registration.queuedStamp = registration.stamp();
    registration.queued = true;
    queue.add(registration);
    bytes += registration.range().lengthBytes();
  }

  void remove(DataRegistration registration) {
    if (registration.queued) {
      queue.remove(registration);
      registration.queued = false;
      bytes -= registration.range().lengthBytes();
    }
  }

  /** Looks at the first; returns it if it was idle and is closed now, else null. */
  @Nullable DataRegistration closeFirst() {
    DataRegistration first = queue.first();
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
