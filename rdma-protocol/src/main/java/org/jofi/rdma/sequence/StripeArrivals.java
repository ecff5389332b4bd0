package org.jofi.rdma.sequence;

import org.jofi.rdma.wire.ImmediateData;

/**
 * Which stripes of a message arrived, in an int that starts as {@link #NONE}.
 *
 * <pre>
 * [12] a stripe arrived   [11] short   [10:8] last stripe   [7:0] a bit per stripe
 * </pre>
 */
public final class StripeArrivals {
  /** No stripe arrived. */
  public static final int NONE = 0;

  /** {@link #add}: this stripe arrived before. The arrivals are as they were. */
  public static final int DUPLICATE = -1;

  /** {@link #add}: stripes of one message contradict each other. The arrivals are as they were. */
  public static final int CONFLICT = -2;

  private static final int SOME = 1 << 12;
  private static final int SHORT = 1 << 11;
  private static final int HEAD = SOME | SHORT | 7 << 8;

  private StripeArrivals() {}

  /**
   * Adds a stripe.
   *
   * @param immediate checked immediate data
   * @return the arrivals with it, positive; {@link #DUPLICATE} or {@link #CONFLICT}
   */
  public static int add(int arrivals, int immediate) {
    int head =
        SOME
            | (ImmediateData.isShort(immediate) ? SHORT : 0)
            | ImmediateData.lastStripe(immediate) << 8;
    if (arrivals != NONE && (arrivals & HEAD) != head) {
      return CONFLICT;
    }
    int bit = 1 << ImmediateData.stripe(immediate);
    return (arrivals & bit) != 0 ? DUPLICATE : arrivals | head | bit;
  }

  /** Whether all stripes arrived. */
  public static boolean isComplete(int arrivals) {
    return arrivals != NONE && missing(arrivals) == 0;
  }

  /** Whether a stripe arrived. */
  public static boolean has(int arrivals, int stripe) {
    return (arrivals & 1 << stripe) != 0;
  }

  /** How many stripes the message has; 1 if none arrived. */
  public static int expected(int arrivals) {
    return (arrivals >>> 8 & 7) + 1;
  }

  /** A bit per stripe that did not arrive; if none arrived, of the first. */
  public static int missing(int arrivals) {
    return (1 << expected(arrivals)) - 1 & ~arrivals;
  }

  /** Whether the message's true length comes in a control message. */
  public static boolean isShort(int arrivals) {
    return (arrivals & SHORT) != 0;
  }

  /** How many stripes arrived. */
  public static int count(int arrivals) {
    return Integer.bitCount(arrivals & 0xff);
  }
}
