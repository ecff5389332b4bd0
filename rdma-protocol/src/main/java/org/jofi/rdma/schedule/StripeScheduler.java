package org.jofi.rdma.schedule;

import java.util.Arrays;
import org.jofi.rdma.wire.ProtocolLimits;

/**
 * Cuts messages into stripes for the rails of a device. One thread at a time; nothing is allocated
 * per message.
 *
 * <p><b>How many.</b> One per {@code minStripeBytes} begun, at most one per rail in use. <b>Which
 * rails.</b> Those with the least load so far, where load is bytes carried over the rail's speed;
 * among equals the one that was not used for longest. With equal rails and equal messages this is
 * round robin; with unequal ones each rail carries in proportion to its speed, whatever the sizes.
 * <b>How long.</b> In proportion to the speeds of the rails chosen, so that stripes end together;
 * stripes start at multiples of 128 bytes.
 *
 * <p>Control messages are not its business: {@link ControlRotation} places them, and they add no
 * load here, so that they cannot skew data.
 */
public final class StripeScheduler {
  /** Stripes start at multiples of this: a flag-per-128-byte protocol above needs it. */
  public static final int ALIGNMENT_BYTES = 128;

  /** The fastest rail counts as at most so many times the slowest. */
  public static final int MAX_WEIGHT = 1024;

  private final int[] weights;
  private final long[] costs;
  private final long[] loads;
  private final long[] lastUsed;
  private final boolean[] excluded;
  private final int[] chosen;
  private final long minStripeBytes;
  private long used;
  private int usable;

  /**
   * @param weights a rail's speed in any unit, 1 to {@link #MAX_WEIGHT} each; see {@link
   *     #weightsOf}
   * @param minStripeBytes least length that is worth another rail, 1 or more
   * @throws IllegalArgumentException if something is out of bounds
   */
  public StripeScheduler(int[] weights, long minStripeBytes) {
    int rails = weights.length;
    if (rails < 1 || rails > ProtocolLimits.MAX_RAILS) {
      throw new IllegalArgumentException("1 to 8 rails, not " + rails);
    }
    for (int weight : weights) {
      if (weight < 1 || weight > MAX_WEIGHT) {
        throw new IllegalArgumentException(
            "a rail's weight is 1 to %d, not %d".formatted(MAX_WEIGHT, weight));
      }
    }
    if (minStripeBytes < 1) {
      throw new IllegalArgumentException("stripes of at least %d bytes".formatted(minStripeBytes));
    }
    this.weights = weights.clone();
    this.minStripeBytes = minStripeBytes;
    costs = new long[rails];
    for (int rail = 0; rail < rails; rail++) {
      costs[rail] = Math.round((double) MAX_WEIGHT * MAX_WEIGHT / weights[rail]);
    }
    loads = new long[rails];
    lastUsed = new long[rails];
    excluded = new boolean[rails];
    chosen = new int[rails];
    usable = rails;
  }

  /**
   * Weights for link speeds.
   *
   * @param speeds per rail in one unit; 0 if unknown, which counts as the slowest known
   */
  public static int[] weightsOf(long[] speeds) {
    long slowest = Arrays.stream(speeds).filter(speed -> speed > 0).min().orElse(1);
    long fastest = Math.max(slowest, Arrays.stream(speeds).max().orElse(1));
    // Whole multiples of the slowest where the ratio allows, else scaled to the fastest.
    double unit = Math.max(slowest / 16.0, (double) fastest / MAX_WEIGHT);
    int[] weights = new int[speeds.length];
    for (int rail = 0; rail < speeds.length; rail++) {
      long speed = speeds[rail] > 0 ? speeds[rail] : slowest;
      weights[rail] = Math.clamp(Math.round(speed / unit), 1, MAX_WEIGHT);
    }
    return weights;
  }

  /**
   * Cuts a message.
   *
   * @param lengthBytes 0 to 2^40
   * @param plan takes the stripes
   * @return how many stripes; 0 if every rail is excluded
   */
  public int schedule(long lengthBytes, StripePlan plan) {
    assert lengthBytes >= 0 && lengthBytes <= ProtocolLimits.MAX_MESSAGE_BYTES : lengthBytes;
    plan.clear();
    if (usable == 0) {
      return 0;
    }
    long worth = lengthBytes == 0 ? 1 : (lengthBytes - 1) / minStripeBytes + 1;
    int count = (int) Math.min(worth, usable);
    int totalWeight = choose(count);
    long units = (lengthBytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES;
    long offset = 0;
    int weight = 0;
    for (int i = 0; i < count; i++) {
      weight += weights[chosen[i]];
      // Rounded up, in favour of the rails of least load, so that rounding evens out.
      long end =
          i == count - 1
              ? lengthBytes
              : Math.min(
                  lengthBytes, (units * weight + totalWeight - 1) / totalWeight * ALIGNMENT_BYTES);
      if (end > offset || lengthBytes == 0) {
        carry(chosen[i], end - offset);
        plan.add(chosen[i], offset, end - offset);
        offset = end;
      }
    }
    rebase();
    return plan.stripes();
  }

  /** Leaves a rail out from now on, such as one that stalled or died. */
  public void exclude(int rail) {
    if (!excluded[rail]) {
      excluded[rail] = true;
      usable--;
    }
  }

  /** Takes a rail in again. It does not catch up on what it missed. */
  public void restore(int rail) {
    if (excluded[rail]) {
      long most = 0;
      for (int other = 0; other < loads.length; other++) {
        most = excluded[other] ? most : Math.max(most, loads[other]);
      }
      loads[rail] = most;
      excluded[rail] = false;
      usable++;
    }
  }

  /** Rails in use. */
  public int usableRails() {
    return usable;
  }

  /** Whether that rail is in use. */
  public boolean isUsable(int rail) {
    return !excluded[rail];
  }

  /** Puts the rails of least load first into {@link #chosen}; their weights' sum. */
  private int choose(int count) {
    int totalWeight = 0;
    int taken = 0;
    for (int i = 0; i < count; i++) {
      int best = -1;
      for (int rail = 0; rail < loads.length; rail++) {
        if (!excluded[rail] && (taken & 1 << rail) == 0 && (best < 0 || precedes(rail, best))) {
          best = rail;
        }
      }
      taken |= 1 << best;
      chosen[i] = best;
      totalWeight += weights[best];
    }
    return totalWeight;
  }

  private boolean precedes(int rail, int other) {
    return loads[rail] != loads[other]
        ? loads[rail] < loads[other]
        : lastUsed[rail] < lastUsed[other];
  }

  private void carry(int rail, long lengthBytes) {
    // Even nothing is a message: it takes its turn.
    loads[rail] += Math.max(1, (lengthBytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES) * costs[rail];
    lastUsed[rail] = ++used;
  }

  /** Keeps loads small: only their differences matter, and these are bounded. */
  private void rebase() {
    long least = Long.MAX_VALUE;
    for (int rail = 0; rail < loads.length; rail++) {
      if (!excluded[rail]) {
        least = Math.min(least, loads[rail]);
      }
    }
    for (int rail = 0; rail < loads.length; rail++) {
      loads[rail] = excluded[rail] ? 0 : loads[rail] - least;
    }
  }
}
