package org.jofi.rdma.connect;

/**
 * Watches whether a peer is alive while something waits for it. When it was silent for a third of
 * the time limit it gets a ping, and again after every further sixth.
 *
 * <pre>
 *            waited for                a third of the bound              the bound
 * AT EASE ---------------&gt; WAITING ------------------------&gt; ASKING --------------&gt; LOST
 *     ^                      |  ^                              |
 *     +-- not waited for ----+  +------ something heard -------+
 * </pre>
 */
public final class Liveness {
  /** {@link #check}: nothing to do. */
  public static final int SOUND = 0;

  /** {@link #check}: ask it. */
  public static final int ASK = 1;

  /** {@link #check}: it was silent for too long. */
  public static final int LOST = 2;

  private final long silenceNs;
  private boolean heard;
  private boolean waiting;
  private long since;
  private long asked;

  public Liveness(long silenceNs) {
    this.silenceNs = silenceNs;
  }

  public void hear() {
    heard = true;
  }

  /**
   * What to do.
   *
   * @param waits whether something waits for the peer
   * @param now the time during which this endpoint was polled
   */
  public int check(boolean waits, long now) {
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
