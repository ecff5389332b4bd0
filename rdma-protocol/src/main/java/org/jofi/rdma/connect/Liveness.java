package org.jofi.rdma.connect;

/**
 * Whether a peer that is waited for is still there: it is asked once it was silent for a third of
 * the bound, and again every sixth of it.
 *
 * <pre>
 *            waited for                a third of the bound              the bound
 * AT EASE ---------------&gt; WAITING ------------------------&gt; ASKING --------------&gt; LOST
 *     ^                      |  ^                              |
 *     +-- not waited for ----+  +------ something heard -------+
 * </pre>
 */
final class Liveness {
  /** {@link #check}: nothing to do. */
  static final int SOUND = 0;

  /** {@link #check}: ask it. */
  static final int ASK = 1;

  /** {@link #check}: it was silent for too long. */
  static final int LOST = 2;

  private final long silenceNs;
  private boolean heard;
  private boolean waiting;
  private long since;
  private long asked;

  Liveness(long silenceNs) {
    this.silenceNs = silenceNs;
  }

  /** Something came from the peer. */
  void hear() {
    heard = true;
  }

  /**
   * What to do.
   *
   * @param waits whether something is waited for
   * @param now time during which this side looked
   */
  int check(boolean waits, long now) {
    if (heard || !waits || !waiting) {
      heard = false;
      waiting = waits;
      since = now;
      asked = now;
      return SOUND;
    }
    long silent = now - since;
    if (silent >= silenceNs) {
      return LOST;
    }
    if (silent >= silenceNs / 3 && now - asked >= silenceNs / 6) {
      asked = now;
      return ASK;
    }
    return SOUND;
  }
}
