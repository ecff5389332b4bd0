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
final class Liveness {
  enum Verdict {
    SOUND,
    ASK,
    LOST
  }

  private final long silenceNs;
  private boolean waiting;
  private long since;
  private long asked;

  Liveness(long silenceNs) {
    this.silenceNs = silenceNs;
  }

  Verdict check(boolean heard, boolean waits, long now) {
    if (heard || !waits || !waiting) {
      waiting = waits;
      since = now;
      asked = now;
      return Verdict.SOUND;
    }
    long silent = now - since;
    if (silent >= silenceNs) {
      return Verdict.LOST;
    }
    if (silent >= silenceNs / 3 && now - asked >= silenceNs / 6) {
      asked = now;
      return Verdict.ASK;
    }
    return Verdict.SOUND;
  }
}
