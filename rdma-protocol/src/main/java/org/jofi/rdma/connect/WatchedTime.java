package org.jofi.rdma.connect;

import org.agrona.concurrent.NanoClock;

/**
 * Measures the time during which an endpoint was polled. If this process was stopped or did not
 * poll for long, only a part of that time counts, so that the peer does not time out because nobody
 * looked for its messages here.
 *
 * <p>Every poll calls {@link #poll}, which reads the clock only from time to time.
 */
final class WatchedTime {
  private static final int IDLE_POLLS = 16;
  private static final int BUSY_POLLS = 1024;

  private final NanoClock clock;
  private final long mostNs;
  private long stepNs;
  private long mostOfRailsNs;
  private long last;

  /** The time watched, in nanoseconds, as of the last look; and the same for the bound of rails. */
  long watchedNs;

  long railNs;
  private int credit = BUSY_POLLS;

  WatchedTime(NanoClock clock, long boundNs) {
    this.clock = clock;
    stepNs = stepNs(boundNs);
    mostNs = Math.max(1, boundNs / 8);
    last = clock.nanoTime();
  }

  /** It measures a shorter bound as well: that of rails. */
  void watchRails(long boundNs) {
    stepNs = Math.min(stepNs, stepNs(boundNs));
    mostOfRailsNs = Math.max(1, boundNs / 8);
  }

  private static long stepNs(long boundNs) {
    return Math.max(1, Math.min(boundNs / 32, 50_000_000L));
  }

  /** Counts a poll; returns whether a step of time has passed since the last look at the clock. */
  boolean poll(boolean idle) {
    credit -= idle ? BUSY_POLLS / IDLE_POLLS : 1;
    if (credit > 0) {
      return false;
    }
    credit = BUSY_POLLS;
    if (clock.nanoTime() - last < stepNs) {
      return false;
    }
    look();
    return true;
  }

  void look() {
    long now = clock.nanoTime();
    watchedNs += Math.clamp(now - last, 0, mostNs);
    railNs += Math.clamp(now - last, 0, mostOfRailsNs);
    last = now;
  }
}
