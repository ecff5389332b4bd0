package org.jofi.rdma.sequence;

import java.util.StringJoiner;
import org.jofi.rdma.wire.ImmediateData;

/**
 * Which stripes of a message arrived, in a long that starts as {@link #NONE}. How many there are is
 * known once the final one is here.
 *
 * <pre>
 * [38] short   [37] the final one arrived   [36:32] its number
 * [31:0] a bit per stripe
 * </pre>
 */
public final class StripeArrivals {
  public static final long NONE = 0;

  /** {@link #add}: this stripe arrived before. The arrivals are as they were. */
  public static final long DUPLICATE = -1;

  /** {@link #add}: stripes of one message contradict each other. The arrivals are as they were. */
  public static final long CONFLICT = -2;

  private static final long SHORT = 1L << 38;
  private static final long FINAL = 1L << 37;

  private StripeArrivals() {}

  /** Adds a checked stripe: the arrivals with it, {@link #DUPLICATE}, or {@link #CONFLICT}. */
  public static long add(long arrivals, int immediate) {
    int stripe = ImmediateData.stripe(immediate);
    boolean isFinal = ImmediateData.isFinal(immediate);
    long kind = ImmediateData.isShort(immediate) ? SHORT : 0;
    // The one of the final's number is the final, and nothing is beyond it.
    boolean fits =
        isFinalHere(arrivals)
            ? stripe <= last(arrivals) && isFinal == (stripe == last(arrivals))
            : !isFinal || (int) arrivals >>> stripe == 0;
    if (!fits || (arrivals != NONE && (arrivals & SHORT) != kind)) {
      return CONFLICT;
    }
    if (has(arrivals, stripe)) {
      return DUPLICATE;
    }
    long end = isFinal ? FINAL | (long) stripe << Integer.SIZE : 0;
    return arrivals | kind | end | 1L << stripe;
  }

  public static boolean isFinalHere(long arrivals) {
    return (arrivals & FINAL) != 0;
  }

  private static int last(long arrivals) {
    return (int) (arrivals >>> Integer.SIZE) & 0x1f;
  }

  public static boolean isComplete(long arrivals) {
    return isFinalHere(arrivals) && missing(arrivals) == 0;
  }

  public static boolean has(long arrivals, int stripe) {
    return (arrivals & 1L << stripe) != 0;
  }

  /** How many stripes the message has, as far as is known: at least so many. */
  public static int expected(long arrivals) {
    int highest = Integer.SIZE - Integer.numberOfLeadingZeros((int) arrivals);
    return isFinalHere(arrivals) ? last(arrivals) + 1 : highest + 1;
  }

  /** A bit per stripe that did not arrive, of those that are known to be. */
  public static int missing(long arrivals) {
    return (int) ((1L << expected(arrivals)) - 1 & ~arrivals);
  }

  /** Whether the message's true length comes in a control message. */
  public static boolean isShort(long arrivals) {
    return (arrivals & SHORT) != 0;
  }

  /** Which stripes did not arrive, in words; empty if all did. */
  public static String describeMissing(long arrivals) {
    int missing = missing(arrivals);
    if (missing == 0 || arrivals == NONE) {
      return missing == 0 ? "" : "every stripe";
    }
    StringJoiner stripes = new StringJoiner(", ");
    for (int left = missing; left != 0; left &= left - 1) {
      stripes.add(Integer.toString(Integer.numberOfTrailingZeros(left)));
    }
    return "stripes %s of %s%d"
        .formatted(stripes, isFinalHere(arrivals) ? "" : "at least ", expected(arrivals));
  }
}
