package org.jofi.transport;

import java.util.concurrent.locks.LockSupport;

/** Spins, yields, and sleeps for twice as long each time. For one thread. */
final class Backoff implements IdleStrategy {
  private final int spins;
  private final int polls;
  private final long shortestNanos;
  private final long longestNanos;
  private int idles;
  private long sleepNanos;

  Backoff(int spins, int yields, long shortestNanos, long longestNanos) {
    if (spins < 0 || yields < 0 || shortestNanos <= 0 || longestNanos < shortestNanos) {
      throw new IllegalArgumentException(
          "%d spins, %d yields and sleeps of %d to %d ns are no back-off"
              .formatted(spins, yields, shortestNanos, longestNanos));
    }
    this.spins = spins;
    polls = Math.addExact(spins, yields);
    this.shortestNanos = shortestNanos;
    this.longestNanos = longestNanos;
    sleepNanos = shortestNanos;
  }

  @Override
  public void idle(int workCount) {
    if (workCount > 0) {
      idles = 0;
      sleepNanos = shortestNanos;
    } else if (idles < spins) {
      idles++;
      Thread.onSpinWait();
    } else if (idles < polls) {
      idles++;
      Thread.yield();
    } else {
      LockSupport.parkNanos(sleepNanos);
      sleepNanos = Math.min(sleepNanos << 1, longestNanos);
    }
  }
}
