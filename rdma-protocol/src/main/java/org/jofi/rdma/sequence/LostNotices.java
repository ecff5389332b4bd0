package org.jofi.rdma.sequence;

/**
 * Receives of which this side may have missed that something arrived: a rail was closed, with what
 * its queue held. Until they are over, the sender is asked what it has delivered, less and less
 * often.
 */
public final class LostNotices {
  private static final long FIRST_NS = 100_000_000L;
  private static final long MOST_NS = 5_000_000_000L;

  private long through;
  private long waitNs;
  private long askedAt;
  private boolean isNew;

  /** Any receive up to that one may be concerned. */
  public void suspect(long lastAnnounced) {
    if (lastAnnounced > through) {
      through = lastAnnounced;
      waitNs = FIRST_NS;
      isNew = true;
    }
  }

  /** Whether the sender is to be asked now, while that receive is the oldest in flight. */
  public boolean isDue(long oldest, long now) {
    if (oldest > through || (!isNew && now - askedAt < waitNs)) {
      return false;
    }
    waitNs = isNew ? FIRST_NS : Math.min(MOST_NS, 2 * waitNs);
    isNew = false;
    askedAt = now;
    return true;
  }
}
