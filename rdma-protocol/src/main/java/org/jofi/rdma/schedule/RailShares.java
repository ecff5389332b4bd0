package org.jofi.rdma.schedule;

import java.util.Arrays;

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

  /** What is out on the rails that are left, with the message. */
  private long level;

  /** How fast these are together. */
  private double together;

  /** How fast each is taken to be; 0 if each has its own rate. */
  private double equal;

  public RailShares(RailRates rates) {
    this.rates = rates;
    shares = new long[rates.rails()];
    lastUsed = new long[rates.rails()];
  }

  /** Cuts 1 byte or more for these rails, a bit each, into so many shares at most. */
  public void cut(long bytes, int most, int usable) {
    long enough = Math.min(RailRates.LEAST_STRIPE_BYTES, bytes / Integer.bitCount(usable));
    int among = usable;
    for (int least = leastOf(bytes, among);
        Integer.bitCount(among) > Math.max(1, most) || (least >= 0 && share(least) < enough);
        least = leastOf(bytes, among)) {
      among &= ~(1 << least);
    }
    Arrays.fill(shares, 0);
    long left = bytes;
    for (int rest = among; rest != 0 && left > 0; rest &= rest - 1) {
      int rail = Integer.numberOfTrailingZeros(rest);
      boolean isLast = (rest & rest - 1) == 0;
      shares[rail] = isLast ? left : Math.min(left, aligned(share(rail)));
      left -= shares[rail];
      lastUsed[rail] = shares[rail] > 0 ? ++used : lastUsed[rail];
    }
  }

  /** Which of several gets least, and of equals was used last; -1 if there is one only. */
  private int leastOf(long bytes, int among) {
    together = rates.together(among);
    level = bytes;
    for (int rest = among; rest != 0; rest &= rest - 1) {
      level += rates.out(Integer.numberOfTrailingZeros(rest));
    }
    int rails = Integer.bitCount(among);
    equal = rates.areEqual(among, bytes / together) ? together / rails : 0;
    int least = -1;
    for (int rest = among; rest != 0 && rails > 1; rest &= rest - 1) {
      int rail = Integer.numberOfTrailingZeros(rest);
      if (least < 0
          || share(rail) < share(least)
          || (share(rail) == share(least) && lastUsed[rail] > lastUsed[least])) {
        least = rail;
      }
    }
    return least;
  }

  private double share(int rail) {
    return (equal > 0 ? equal : rates.rate(rail)) / together * level - rates.out(rail);
  }

  private static long aligned(double bytes) {
    return (long) Math.ceil(Math.max(0, bytes) / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
  }

  /** The share of a rail; 0 if it gets none. */
  public long of(int rail) {
    return shares[rail];
  }
}
