package org.jofi.rdma.schedule;

/**
 * Cuts a message into shares for the rails to a peer, so that they end together: given their rates,
 * and what is out on them already. One thread at a time; nothing is allocated once it exists.
 *
 * <p>That is how water fills vessels. All rails are to be done at one time T, so a rail of rate
 * {@code w}, with {@code o} bytes out, gets {@code w T - o}; and T is such that this sums up to the
 * message. A rail that would get less than {@link RailRates#LEAST_STRIPE_BYTES} gets nothing. Among
 * equals, the one that was not used for longest comes first.
 */
public final class RailShares {
  /** Shares begin at multiples of this: a protocol above may need a flag per 128 bytes. */
  public static final int ALIGNMENT_BYTES = 128;

  private final RailRates rates;
  private final long[] shares;
  private final long[] lastUsed;
  private long used;
  private double rate;
  private double level;
  private double equal;

  /**
   * @param rates of the rails
   */
  public RailShares(RailRates rates) {
    this.rates = rates;
    shares = new long[rates.rails()];
    lastUsed = new long[rates.rails()];
  }

  /**
   * Cuts.
   *
   * @param bytes 1 or more
   * @param most how many shares at most
   * @param usable the rails to use, a bit each; one at least
   */
  public void cut(long bytes, int most, int usable) {
    int among = usable;
    int least = leastOf(bytes, among);
    while (least >= 0
        && (Integer.bitCount(among) > most
            || share(least)
                < Math.min(RailRates.LEAST_STRIPE_BYTES, bytes / Integer.bitCount(usable)))) {
      among &= ~(1 << least);
      least = leastOf(bytes, among);
    }
    long left = bytes;
    int last = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(among);
    for (int rail = 0; rail < shares.length; rail++) {
      boolean gets = (among & 1 << rail) != 0;
      long share = gets && rail != last ? Math.min(left, aligned(share(rail))) : 0;
      shares[rail] = rail == last ? left : share;
      left -= shares[rail];
      if (shares[rail] > 0) {
        lastUsed[rail] = ++used;
      }
    }
  }

  /** Which of several gets least; -1 if there is one only. */
  private int leastOf(long bytes, int among) {
    fill(bytes, among);
    if (Integer.bitCount(among) < 2) {
      return -1;
    }
    int least = -1;
    double leastShare = 0;
    for (int rail = 0; rail < shares.length; rail++) {
      if ((among & 1 << rail) != 0) {
        double share = share(rail);
        if (least < 0
            || share < leastShare
            || (share == leastShare && lastUsed[rail] > lastUsed[least])) {
          least = rail;
          leastShare = share;
        }
      }
    }
    return least;
  }

  /** The water level of these rails. */
  private void fill(long bytes, int among) {
    rate = rates.together(among);
    level = bytes;
    for (int rail = 0; rail < shares.length; rail++) {
      if ((among & 1 << rail) != 0) {
        level += rates.out(rail);
      }
    }
    equal = rates.areEqual(among, bytes / rate) ? rate / Integer.bitCount(among) : 0;
  }

  private double share(int rail) {
    return (equal > 0 ? equal : rates.rate(rail)) / rate * level - rates.out(rail);
  }

  private static long aligned(double bytes) {
    return (long) Math.ceil(Math.max(0, bytes) / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
  }

  /** The share of a rail; 0 if it gets none. */
  public long of(int rail) {
    return shares[rail];
  }
}
