package org.jofi.rdma.schedule;

/**
 * When a rail that is not in use is tried: the peer is told over it where this side is reached, so
 * that its answer shows that the link works. One that fails again soon is tried less and less
 * often.
 */
public final class ProbeTimer {
  private static final long FIRST_NS = 1_000_000_000L;
  private static final long MOST_NS = 64 * FIRST_NS;

  /** Used for so long without a failure, a rail counts as sound. */
  private static final long SOUND_NS = 60 * FIRST_NS;

  private static final long NEVER = Long.MAX_VALUE;

  private long dueAt = NEVER;
  private long waitNs;
  private long joinedAt;

  public void inUse(long now) {
    if (dueAt != NEVER) {
      dueAt = NEVER;
      joinedAt = now;
    }
  }

  /** The rail is not in use; whether it is to be tried now: at once if nothing is against it. */
  public boolean isDue(long now, boolean atOnce) {
    if (dueAt == NEVER) {
      boolean sound = waitNs == 0 || now - joinedAt >= SOUND_NS;
      waitNs = sound ? FIRST_NS : Math.min(MOST_NS, 2 * waitNs);
      dueAt = atOnce && sound ? now : now + waitNs;
    }
    if (now < dueAt) {
      return false;
    }
    dueAt = now + waitNs;
    return true;
  }
}
