package org.jofi.rdma.schedule;

import java.util.Arrays;
import org.jofi.rdma.wire.ProtocolLimits;

/**
 * How fast each rail to a peer is, in one direction, learned from what completes; and what is out
 * on it. One thread at a time; nothing is allocated once it exists.
 *
 * <p>A rail is measured while something is out on it. The first stripe, and then each 512 KiB, or 8
 * ms, are a sample, which moves its rate by a quarter of the difference, or by half while the rate
 * is far off. How far the samples of late were off is its error: while that is large, whoever
 * spreads messages keeps a part of each back, for the rails that are done first.
 */
public final class RailRates {
  /** The least that a rail is given of a message that goes over several. */
  public static final long LEAST_STRIPE_BYTES = 64 << 10;

  /** The {@link #error} of rails that were not measured yet. */
  public static final double UNMEASURED = 1;

  /** No rail. */
  public static final int NONE = -1;

  private static final long SAMPLE_BYTES = 512 << 10;
  private static final long SAMPLE_NS = 8_000_000;

  /**
   * A sample lasts at least this long. What a single poll finds done may have been done long before
   * it, so it counts in the next sample, with the time that passes until then.
   */
  private static final long LEAST_SAMPLE_NS = 50_000;

  private static final long SHORTEST_NS = 1_000;

  /** Until a poll sees that something completed. */
  private static final long POLL_GAP_NS = 2_000_000;

  /** A rate is not trusted that was not measured for so long. */
  private static final long STALE_NS = 10_000_000_000L;

  /** Bytes in a nanosecond of rails whose speeds are not known: 1 Gbit/s. */
  private static final double UNKNOWN = 0.125;

  /** Rates that differ less than by this part are equal, so that noise moves nothing. */
  private static final double DEAD_BAND = 0.08;

  /** The same for what is through in less than {@link #BRIEF_NS}. */
  private static final double BRIEF_BAND = 0.4;

  private static final double MOST_BAND = 0.85;

  /** What takes less is measured badly: polls, and processors that serve several rails, show. */
  public static final double BRIEF_NS = 2e6;

  /** How far a rate that is measured badly is drawn to the mean of all, in its logarithm. */
  private static final double PULL = 0.03;

  private static final double FAR_OFF = 0.15;
  private static final double NEAR = 0.25;
  private static final double FAR = 0.5;
  private static final double ERROR_WEIGHT = 0.3;
  private static final double STALE_ERROR = 0.25;

  private final double[] rates;
  private final double[] errors;
  private final long[] out;
  private final long[] carried;
  private final long[] busySince;
  private final long[] backAt;
  private final long[] leastNs;
  private final long[] sampleBytes;
  private final long[] sampleNs;
  private final long[] sampledAt;
  private final boolean[] measured;

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
    rates = new double[rails];
    errors = new double[rails];
    for (int rail = 0; rail < rails; rail++) {
      rates[rail] = known ? speeds[rail] / 8e9 : UNKNOWN;
      errors[rail] = UNMEASURED;
    }
    out = new long[rails];
    carried = new long[rails];
    busySince = new long[rails];
    backAt = new long[rails];
    leastNs = new long[rails];
    sampleBytes = new long[rails];
    sampleNs = new long[rails];
    sampledAt = new long[rails];
    measured = new boolean[rails];
  }

  /** How many rails. */
  public int rails() {
    return rates.length;
  }

  /** A stripe is given to a rail. */
  public void give(int rail, long bytes, long now) {
    if (out[rail] == 0) {
      busySince[rail] = now;
      if (sampledAt[rail] == 0) {
        sampledAt[rail] = now;
      }
    }
    out[rail] += bytes;
  }

  /** A stripe comes to nothing on that rail, or goes over another one. */
  public void takeBack(int rail, long bytes) {
    out[rail] -= bytes;
    probed &= ~(1 << rail);
  }

  /** It is not known any more how fast a rail is: it was not used for a while. */
  public void forget(int rail) {
    measured[rail] = false;
    probed &= ~(1 << rail);
    sampleBytes[rail] = 0;
    sampleNs[rail] = 0;
    errors[rail] = Math.max(Math.abs(errors[rail]), STALE_ERROR);
  }

  /**
   * A rail of those of which it is not known how fast it is: it gets a stripe of the least length,
   * and no more until that is back. What a far slower one had got would take it so long that it
   * seemed to be dead. {@link #NONE} if there is none.
   */
  public int probe(int among) {
    for (int rail = 0; rail < rates.length; rail++) {
      int bit = 1 << rail;
      if ((among & bit) != 0 && !measured[rail] && (probed & bit) == 0) {
        probed |= bit;
        return rail;
      }
    }
    return NONE;
  }

  /** Those of these rails that are not being {@linkplain #probe probed}, a bit each. */
  public int ready(int among) {
    return among & ~probed;
  }

  /**
   * A stripe arrived.
   *
   * @param alone whether its message went over no other rail. Such a stripe tells how fast its rail
   *     is only if it came behind another one, and so does a short one
   */
  public void arrived(int rail, long bytes, boolean alone, long now) {
    out[rail] -= bytes;
    carried[rail] += bytes;
    boolean follows = backAt[rail] > busySince[rail];
    long ns = Math.max(SHORTEST_NS, now - Math.max(backAt[rail], busySince[rail]));
    if (!follows) {
      leastNs[rail] = leastNs[rail] == 0 ? ns : Math.min(leastNs[rail], ns);
    }
    backAt[rail] = now;
    if ((alone || bytes < LEAST_STRIPE_BYTES) && !follows) {
      return;
    }
    sampleBytes[rail] += bytes;
    sampleNs[rail] += ns;
    boolean enough = sampleBytes[rail] >= SAMPLE_BYTES && sampleNs[rail] >= LEAST_SAMPLE_NS;
    if (!measured[rail] || enough || sampleNs[rail] >= SAMPLE_NS) {
      learn(rail, (double) sampleBytes[rail] / sampleNs[rail]);
      sampleBytes[rail] = 0;
      sampleNs[rail] = 0;
      sampledAt[rail] = now;
      probed &= ~(1 << rail);
    }
  }

  private void learn(int rail, double sample) {
    // Two answers at once, of which the first was late, seem to be of a rail without end.
    double rate = measured[rail] ? Math.min(sample, 2 * rates[rail]) : sample;
    double off = Math.clamp((rate - rates[rail]) / rates[rail], -1, 1);
    errors[rail] += (off - errors[rail]) * ERROR_WEIGHT;
    if (measured[rail]) {
      rates[rail] += (rate - rates[rail]) * (Math.abs(errors[rail]) > FAR_OFF ? FAR : NEAR);
    } else {
      measured[rail] = true;
      rates[rail] = rate;
    }
    if (SAMPLE_BYTES / rates[rail] < BRIEF_NS / 2) {
      drawToMean(rail);
    }
  }

  /**
   * If one processor serves all rails and is the bottleneck, each rail seems as fast as its share
   * is large, so that any shares confirm themselves. So shares drift back to equal ones unless the
   * rates say otherwise.
   */
  private void drawToMean(int rail) {
    double mean = together((1 << rates.length) - 1) / rates.length;
    rates[rail] *= 1 + PULL * Math.log(mean / rates[rail]);
  }

  /** Bytes that were given to a rail, and are not done. */
  public long out(int rail) {
    return out[rail];
  }

  /** Bytes that it carried until now. */
  public long carried(int rail) {
    return carried[rail];
  }

  /** How fast it was measured to be; 0 if it was not. */
  public long measuredBytesPerSecond(int rail) {
    return measured[rail] ? Math.round(rates[rail] * 1e9) : 0;
  }

  /** Bytes that a rail carries in a nanosecond. */
  public double rate(int rail) {
    return rates[rail];
  }

  /**
   * Whether these rails are about as fast as each other. For what they are through with soon, rates
   * that were far off of late are no reason to prefer one, unless that is far slower.
   *
   * @param nanos how long they need for what is to be cut
   */
  boolean areEqual(int among, double nanos) {
    double least = Double.MAX_VALUE;
    double most = 0;
    for (int rail = 0; rail < rates.length; rail++) {
      if ((among & 1 << rail) != 0) {
        least = Math.min(least, rates[rail]);
        most = Math.max(most, rates[rail]);
      }
    }
    double band = nanos < BRIEF_NS ? Math.min(MOST_BAND, BRIEF_BAND + error(among)) : DEAD_BAND;
    return least > most * (1 - band);
  }

  /** How far off the rates of these rails were of late, as a part of them; 1 for unknown ones. */
  public double error(int among) {
    double most = 0;
    for (int rail = 0; rail < errors.length; rail++) {
      if ((among & 1 << rail) != 0) {
        most = Math.max(most, Math.abs(errors[rail]));
      }
    }
    return most;
  }

  /** How long these rails need for so many bytes, together and beside nothing else. */
  public double nanosFor(long bytes, int among) {
    return bytes / together(among);
  }

  /** Bytes that these rails carry in a nanosecond. */
  double together(int among) {
    double sum = 0;
    for (int rail = 0; rail < rates.length; rail++) {
      if ((among & 1 << rail) != 0) {
        sum += rates[rail];
      }
    }
    return sum;
  }

  /** What part of what these rails carry goes over one of them, 0 to 1. */
  public double share(int rail, int among) {
    return rates[rail] / together(among);
  }

  /** Whether so little is out on one of these that it may run dry before a completion is seen. */
  public boolean haveRoom(int among) {
    for (int rail = 0; rail < rates.length; rail++) {
      if ((among & 1 << rail) != 0 && hasRoom(rail)) {
        return true;
      }
    }
    return false;
  }

  private boolean hasRoom(int rail) {
    double window = 1.5 * rates[rail] * (leastNs[rail] + POLL_GAP_NS);
    return out[rail] < Math.max(2 * LEAST_STRIPE_BYTES, window);
  }

  /**
   * Looks for a rail of those whose rate was not measured for long, though it had nothing to do: it
   * is not known any more. One at a time, so that the others go on.
   */
  public void look(int among, long now) {
    for (int rail = 0; rail < rates.length; rail++) {
      if ((among & 1 << rail) != 0
          && measured[rail]
          && out[rail] == 0
          && now - sampledAt[rail] > STALE_NS) {
        sampledAt[rail] = now;
        forget(rail);
        return;
      }
    }
  }
}
