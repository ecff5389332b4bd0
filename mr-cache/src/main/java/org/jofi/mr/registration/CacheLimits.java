package org.jofi.mr.registration;

import java.util.concurrent.TimeUnit;

/**
 * What the cache may keep. A registration counts as idle from the end of its last lease or use
 * until it is closed, or until the cache looks for something to evict and finds it leased again. So
 * idle registrations never exceed a budget.
 *
 * @param idleEntries largest number of idle registrations; 0 keeps none
 * @param idleBytes largest number of bytes in idle registrations; 0 keeps none
 * @param waitNs longest wait for another thread to finish registering or closing the same memory,
 *     in nanoseconds, at least 1
 */
public record CacheLimits(int idleEntries, long idleBytes, long waitNs) {

  /**
   * 4096 registrations, 16 GiB, and a minute, because the largest registrations take tens of
   * seconds.
   */
  public static final CacheLimits DEFAULT =
      new CacheLimits(4096, 16L << 30, TimeUnit.MINUTES.toNanos(1));

  /** Keeps nothing idle. Leased registrations are still shared. */
  public static final CacheLimits OFF = new CacheLimits(0, 0, DEFAULT.waitNs());

  /**
   * @throws IllegalArgumentException if a budget is negative, or the wait is not positive
   */
  public CacheLimits {
    if (idleEntries < 0 || idleBytes < 0) {
      throw new IllegalArgumentException(
          "budgets are 0 or more, not %d registrations and %d bytes"
              .formatted(idleEntries, idleBytes));
    }
    if (waitNs < 1) {
      throw new IllegalArgumentException("a wait is 1 ns or more, not " + waitNs);
    }
  }

  /** These limits, with other budgets. */
  public CacheLimits withIdle(int entries, long bytes) {
    return new CacheLimits(entries, bytes, waitNs);
  }
}
