package org.jofi.rdma.nic;

import org.agrona.concurrent.NanoClock;

/**
 * The peers for whom a provider took nothing ({@code -EAGAIN}). Nothing is offered for them until
 * the next poll: a refused call costs as much as one that is taken. After many refusals in a row,
 * polls are passed over for an eighth of the time since then: libfabric's tcp connects anew for
 * each call to a peer that is gone.
 */
public final class RefusedPeers {
  /** Up to so many refusals in a row are those of a full queue, and the next poll tries again. */
  private static final int USUAL = 64;

  /** A wait lasts the time since the first refusal, divided by this. */
  private static final int SHARE = 8;

  /** The longest wait: what a peer that accepts again may lose by it. */
  private static final long MOST_NS = 1_000_000;

  /** For how many polls one for whom nothing more is offered is remembered. */
  private static final int MOST_POLLS = 1 << 16;

  /** Of more, some are offered something in each poll. */
  private static final int MOST_PEERS = 32;

  private final NanoClock clock;
  private final long[] peers = new long[MOST_PEERS];
  private final int[] refusals = new int[MOST_PEERS];

  /** The poll after which each was refused. */
  private final int[] poll = new int[MOST_PEERS];

  /** Since when it was refused unusually often, and until when nothing is offered. */
  private final long[] since = new long[MOST_PEERS];

  private final long[] until = new long[MOST_PEERS];
  private int count;
  private int oldest;
  private int polls;

  public RefusedPeers(NanoClock clock) {
    this.clock = clock;
  }

  public boolean isEmpty() {
    return count == 0;
  }

  /** Whether nothing is to be offered for a peer now. */
  public boolean contains(long peer) {
    int at = find(peer);
    return at >= 0
        && (poll[at] == polls || (refusals[at] > USUAL && until[at] - clock.nanoTime() > 0));
  }

  public void refused(long peer) {
    int at = find(peer);
    if (at < 0) {
      at = place();
      peers[at] = peer;
      refusals[at] = 0;
    }
    poll[at] = polls;
    if (refusals[at] < USUAL) {
      refusals[at]++;
      return;
    }
    long now = clock.nanoTime();
    if (refusals[at] == USUAL) {
      refusals[at]++;
      since[at] = now;
    }
    until[at] = now + Math.min((now - since[at]) / SHARE, MOST_NS);
  }

  private int place() {
    if (count < MOST_PEERS) {
      return count++;
    }
    oldest = (oldest + 1) % MOST_PEERS;
    return oldest;
  }

  public void taken(long peer) {
    int at = find(peer);
    if (at >= 0) {
      forget(at);
    }
  }

  private void forget(int at) {
    count--;
    peers[at] = peers[count];
    refusals[at] = refusals[count];
    poll[at] = poll[count];
    since[at] = since[count];
    until[at] = until[count];
  }

  public void polled() {
    if (count > 0) {
      polls++;
      if (polls - poll[0] > MOST_POLLS) {
        // Nobody has anything for it any more.
        forget(0);
      }
    }
  }

  /** Another endpoint was opened, which has peers of its own. */
  public void clear() {
    count = 0;
  }

  private int find(long peer) {
    for (int at = 0; at < count; at++) {
      if (peers[at] == peer) {
        return at;
      }
    }
    return -1;
  }
}
