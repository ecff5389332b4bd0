package org.jofi.rdma.nic;

import org.agrona.concurrent.NanoClock;

/**
 * How often a provider took nothing for a peer ({@code -EAGAIN}). Nothing is offered for it until
 * the next poll: a refused call costs as much as one that is taken. After many refusals in a row,
 * polls are passed over for an eighth of the time since then: libfabric's tcp connects anew for
 * each call to a peer that is gone.
 */
public final class Refusals {
  /** Up to so many refusals in a row are those of a full queue, and the next poll tries again. */
  private static final int USUAL = 64;

  /** A wait lasts the time since the first refusal, divided by this. */
  private static final int SHARE = 8;

  /** The longest wait: what a peer that accepts again may lose by it. */
  private static final long MOST_NS = 1_000_000;

  /** For how many polls they are remembered if nothing more is offered. */
  private static final int MOST_POLLS = 1 << 16;

  /** In a row, but not above those that are unusual. */
  int count;

  /** The poll after which it was refused last. */
  private int poll;

  /** Since when it was refused unusually often, and until when nothing is offered. */
  private long since;

  private long until;

  public Refusals() {}

  /** Whether nothing is to be offered after that poll. */
  public boolean forbids(int polls, NanoClock clock) {
    return count > 0 && (poll == polls || (count > USUAL && until - clock.nanoTime() > 0));
  }

  public void refused(int polls, NanoClock clock) {
    count = polls - poll > MOST_POLLS ? 0 : count;
    poll = polls;
    if (count < USUAL) {
      count++;
      return;
    }
    long now = clock.nanoTime();
    if (count == USUAL) {
      count++;
      since = now;
    }
    until = now + Math.min((now - since) / SHARE, MOST_NS);
  }

  public void taken() {
    count = 0;
  }
}
