package org.jofi.rdma.schedule;

import java.util.Arrays;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.RailStatus;

/**
 * How fast each rail to a peer is, in one direction, learned from what completes; and what is out
 * on it. One thread at a time; nothing is allocated once it exists.
 *
 * <p>A rail is measured while something is out on it. The first stripe, and then each 512 KiB, or 8
 * ms, are a sample, to which its rate moves some of the way; all of it at first. What was learned
 * from little, such as what a link takes at once before it is shaped, is relied on for little.
 */
public final class RailRates {
  /** The least that a rail is given of a message that goes over several. */
  public static final long LEAST_STRIPE_BYTES = 64 << 10;

  /** What takes less is measured badly: polls, and processors that serve several rails, show. */
  public static final double BRIEF_NS = 2e6;

  private static final long SAMPLE_BYTES = 512 << 10;
  private static final long SAMPLE_NS = 8_000_000;

  /**
   * A sample lasts at least this long. What a single poll finds done may have been done long before
   * it, so it counts in the next sample, with the time that passes until then.
   */
  private static final long LEAST_SAMPLE_NS = 50_000;

  /** A rate that was learned from little is relied on for so many times as much. */
  private static final int GROWTH = 8;

  /** How much of the way to a sample a rate moves. */
  private static final double WEIGHT = 0.4;

  /** Until a poll sees that something completed. */
  private static final long POLL_GAP_NS = 2_000_000;

  /** A rate is not trusted that was not measured for so long. */
  private static final long STALE_NS = 10_000_000_000L;

  /** Bytes in a nanosecond of rails whose speeds are not known: 1 Gbit/s. */
  private static final double UNKNOWN = 0.125;

  /** Rates that differ less than by this part are equal, so that noise moves nothing. */
  private static final double BAND = 0.08;

  /** The same for what is through in less than {@link #BRIEF_NS}. */
  private static final double BRIEF_BAND = 0.5;

  private final double[] rates;
  private final long[] out;
  private final long[] carried;
  private final long[] busySince;
  private final long[] backAt;
  private final long[] leastNs;
  private final long[] sampleBytes;
  private final long[] sampleNs;
  private final long[] sampledAt;

  /** How many bytes each was measured by since it was not known; 0 if it is not. */
  private final long[] proven;

  /** Rails with a stripe out that is to measure them, a bit each. */
  private int probed;

  /**
   * @param speeds link speed of each rail, in bits per second; 0 if unknown. They are the rates to
   *     begin with if all are known
   */
  public RailRates(long[] speeds) {
    int rails = speeds.length;
    if (rails < 1 || rails > ProtocolLimits.MAX_RAILS) {
      throw new IllegalArgumentException("1 to 8 rails, not " + rails);
    }
    boolean known = Arrays.stream(speeds).allMatch(speed -> speed > 0);
    rates = Arrays.stream(speeds).mapToDouble(speed -> known ? speed / 8e9 : UNKNOWN).toArray();
    out = new long[rails];
    carried = new long[rails];
    busySince = new long[rails];
    backAt = new long[rails];
    leastNs = new long[rails];
    sampleBytes = new long[rails];
    sampleNs = new long[rails];
    sampledAt = new long[rails];
    proven = new long[rails];
  }

  public int rails() {
    return rates.length;
  }

  public void give(int rail, long bytes, long now) {
    if (out[rail] == 0) {
      busySince[rail] = now;
      if (sampledAt[rail] == 0) {
        sampledAt[rail] = now;
      }
    }
    out[rail] += Math.max(1, bytes);
  }

  /** A stripe comes to nothing on that rail, or goes over another one. */
  public void takeBack(int rail, long bytes) {
    out[rail] -= Math.max(1, bytes);
    probed &= ~(1 << rail);
  }

  /** It is not known any more how fast a rail is: it was not used for a while. */
  public void forget(int rail) {
    proven[rail] = 0;
    probed &= ~(1 << rail);
    sampleBytes[rail] = 0;
    sampleNs[rail] = 0;
  }

  /**
   * Those of which it is not known how fast they are: each gets a stripe of the least length, and
   * no more until that is back. What a far slower one had got would take it so long that it seemed
   * to be dead.
   */
  public int probe(int among) {
    int unknown = 0;
    for (int left = among & ~probed; left != 0; left &= left - 1) {
      int rail = Integer.numberOfTrailingZeros(left);
      unknown |= proven[rail] == 0 ? 1 << rail : 0;
    }
    probed |= unknown;
    return unknown;
  }

  /** How much a rail is given of a message at once, in bytes. */
  public long limit(int rail) {
    return GROWTH
        * Math.max(LEAST_STRIPE_BYTES, proven[rail])
        / RailShares.ALIGNMENT_BYTES
        * RailShares.ALIGNMENT_BYTES;
  }

  /** Those of these rails that are not being {@linkplain #probe probed}, a bit each. */
  public int ready(int among) {
    return among & ~probed;
  }

  /**
   * A stripe arrived.
   *
   * @param alone whether its message went over no other rail. Such a stripe tells how fast its rail
   *     is only if it came behind another one, and so does a short one. One that {@linkplain #probe
   *     probes} its rail always does: until it has, the rail gets nothing more
   */
  public void arrived(int rail, long bytes, boolean alone, long now) {
    out[rail] -= Math.max(1, bytes);
    carried[rail] += bytes;
    boolean follows = backAt[rail] > busySince[rail];
    long ns = Math.max(1, now - Math.max(backAt[rail], busySince[rail]));
    if (!follows) {
      leastNs[rail] = leastNs[rail] == 0 ? ns : Math.min(leastNs[rail], ns);
    }
    backAt[rail] = now;
    boolean isAlone = alone && (probed & 1 << rail) == 0;
    if (bytes == 0 || ((isAlone || bytes < LEAST_STRIPE_BYTES) && !follows)) {
      return;
    }
    sampleBytes[rail] += bytes;
    sampleNs[rail] += ns;
    boolean isKnown = proven[rail] > 0;
    boolean enough = sampleBytes[rail] >= SAMPLE_BYTES && sampleNs[rail] >= LEAST_SAMPLE_NS;
    if (!isKnown || enough || sampleNs[rail] >= SAMPLE_NS) {
      proven[rail] += sampleBytes[rail];
      double rate = (double) sampleBytes[rail] / sampleNs[rail];
      // Two answers at once, of which the first was late, seem to be of a rail without end.
      double most = isKnown ? 2 * rates[rail] : rate;
      double weight = Math.clamp((double) sampleBytes[rail] / proven[rail], WEIGHT, 1);
      rates[rail] += (Math.min(rate, most) - rates[rail]) * weight;
      sampleBytes[rail] = 0;
      sampleNs[rail] = 0;
      sampledAt[rail] = now;
      probed &= ~(1 << rail);
    }
  }

  /** Bytes that were given to a rail, and are not done; a stripe of none counts as one. */
  public long out(int rail) {
    return out[rail];
  }

  /** What went over a rail, and how fast it is taken to be. */
  public RailStatus.Traffic traffic(int rail, int usable) {
    return new RailStatus.Traffic(
        carried[rail],
        out[rail],
        proven[rail] > 0 ? Math.round(rates[rail] * 1e9) : 0,
        (usable & 1 << rail) == 0 ? 0 : rates[rail] / together(usable));
  }

  /** How long what is out on a rail should take, in nanoseconds. */
  public double expectedNs(int rail) {
    return out[rail] / rates[rail];
  }

  /** Bytes that a rail carries in a nanosecond. */
  public double rate(int rail) {
    return rates[rail];
  }

  /**
   * Whether these rails are about as fast as each other. For what they are through with soon, their
   * rates are no reason to prefer one, unless that is far slower.
   *
   * @param nanos how long they need for what is to be cut
   */
  boolean areEqual(int among, double nanos) {
    double least = Double.MAX_VALUE;
    double most = 0;
    for (int left = among; left != 0; left &= left - 1) {
      int rail = Integer.numberOfTrailingZeros(left);
      least = Math.min(least, rates[rail]);
      most = Math.max(most, rates[rail]);
    }
    return least > most * (1 - (nanos < BRIEF_NS ? BRIEF_BAND : BAND));
  }

  /** How long these rails need for so many bytes, together and beside nothing else. */
  public double nanosFor(long bytes, int among) {
    return bytes / together(among);
  }

  /** Bytes that these rails carry in a nanosecond. */
  double together(int among) {
    double sum = 0;
    for (int left = among; left != 0; left &= left - 1) {
      sum += rates[Integer.numberOfTrailingZeros(left)];
    }
    return sum;
  }

  /**
   * Whether so little is out on one of these that it may run dry before a completion is seen.
   *
   * @param idle whether nothing at all is to be out
   */
  public boolean haveRoom(int among, boolean idle) {
    for (int left = among; left != 0; left &= left - 1) {
      int rail = Integer.numberOfTrailingZeros(left);
      double window = 1.5 * rates[rail] * (leastNs[rail] + POLL_GAP_NS);
      if (out[rail] < (idle ? 1 : Math.max(2 * LEAST_STRIPE_BYTES, window))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Looks for a rail of those whose rate was not measured for long, though it had nothing to do: it
   * is not known any more. One at a time, so that the others go on.
   */
  public void look(int among, long now) {
    for (int left = among; left != 0; left &= left - 1) {
      int rail = Integer.numberOfTrailingZeros(left);
      if (proven[rail] > 0 && out[rail] == 0 && now - sampledAt[rail] > STALE_NS) {
        sampledAt[rail] = now;
        forget(rail);
        return;
      }
    }
  }
}
