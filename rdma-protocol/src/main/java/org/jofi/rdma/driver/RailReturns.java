package org.jofi.rdma.driver;

import java.util.Arrays;

/**
 * When a peer is told of this side's endpoint on a rail that is not in use: over that rail, so that
 * its answer shows that the link works. A rail that fails again soon is tried less and less often.
 */
final class RailReturns {
  private static final long FIRST_NS = 1_000_000_000L;
  private static final long MOST_NS = 64 * FIRST_NS;

  /** Used for so long without a failure, a rail counts as sound. */
  private static final long SOUND_NS = 60 * FIRST_NS;

  private static final long NEVER = Long.MAX_VALUE;

  private final long[] dueAt;
  private final long[] waitNs;
  private final long[] joinedAt;
  private int due;

  /**
   * @param rails how many
   */
  RailReturns(int rails) {
    dueAt = new long[rails];
    waitNs = new long[rails];
    joinedAt = new long[rails];
    Arrays.fill(dueAt, NEVER);
  }

  /** A rail is in use. */
  void inUse(int rail, long now) {
    if (dueAt[rail] != NEVER) {
      dueAt[rail] = NEVER;
      joinedAt[rail] = now;
      due &= ~(1 << rail);
    }
  }

  /**
   * A rail is not in use.
   *
   * @param atOnce whether nothing is known against its link
   */
  void outOfUse(int rail, long now, boolean atOnce) {
    if (dueAt[rail] == NEVER) {
      boolean sound = waitNs[rail] == 0 || now - joinedAt[rail] >= SOUND_NS;
      waitNs[rail] = sound ? FIRST_NS : Math.min(MOST_NS, 2 * waitNs[rail]);
      dueAt[rail] = atOnce && sound ? now : now + waitNs[rail];
    }
    if (now >= dueAt[rail]) {
      due |= 1 << rail;
      dueAt[rail] = now + waitNs[rail];
    }
  }

  /** The rails over which the peer is to be told now, a bit each; once. */
  int takeDue() {
    int now = due;
    due = 0;
    return now;
  }
}
