package org.jofi.transport;

import java.util.Objects;

/**
 * What the transport chooses well by itself: for those who measure, and for tests. Most programs
 * leave it at {@link #DEFAULT}. Immutable; any thread.
 *
 * @param minStripeBytes a message has one stripe for every so many bytes, started ones included,
 *     and at most one per rail; 128 to 2^40, a multiple of {@link
 *     TransportOptions#STRIPE_ALIGNMENT_BYTES}; 131 072 by default
 * @param eagerBytes longest message from host memory that may leave before its receive was
 *     announced, 0 to {@link #MOST_EAGER_BYTES}, or {@link #EAGER_BY_PROVIDER} for what suits the
 *     provider; that by default. 0 turns it off. Such a message is copied, and its request is over
 *     once it left. Each side has a limit, and the lower one counts. {@link
 *     DeviceLimits#eagerBytes} is what was chosen: 0 where all NICs take device memory
 * @param immediateDelivery how the receiver learns of stripes; automatic by default. One that a NIC
 *     cannot do makes the NIC unsuitable
 * @param controlOnAllRails whether control messages use all rails, and not only the first; they do
 *     by default
 * @param endpointsPerDevice number of endpoints that the communicators of a device are spread over,
 *     1 to 64, or 0 for automatic, the default, which is 4 if they have progress threads and else
 *     1. With more endpoints, more threads can use communicators of a device without waiting for
 *     each other's lock
 */
public record Tuning(
    long minStripeBytes,
    int eagerBytes,
    ImmediateDelivery immediateDelivery,
    boolean controlOnAllRails,
    int endpointsPerDevice) {

  /** The longest that {@link #eagerBytes} can be. */
  public static final int MOST_EAGER_BYTES = 64 * 1024 - 64;

  /** Short messages leave as it suits the provider. */
  public static final int EAGER_BY_PROVIDER = -1;

  /** What suits most machines. */
  public static final Tuning DEFAULT =
      new Tuning(128 * 1024, EAGER_BY_PROVIDER, ImmediateDelivery.AUTO, true, 0);

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if one is out of its bounds, which the message names
   */
  public Tuning {
    TransportOptions.within(
        "minStripeBytes",
        minStripeBytes,
        TransportOptions.STRIPE_ALIGNMENT_BYTES,
        TransportOptions.LONGEST_MESSAGE_BYTES);
    if (minStripeBytes % TransportOptions.STRIPE_ALIGNMENT_BYTES != 0) {
      throw new IllegalArgumentException(
          "minStripeBytes must be a multiple of %d, is %d"
              .formatted(TransportOptions.STRIPE_ALIGNMENT_BYTES, minStripeBytes));
    }
    TransportOptions.within("eagerBytes", eagerBytes, EAGER_BY_PROVIDER, MOST_EAGER_BYTES);
    TransportOptions.within("endpointsPerDevice", endpointsPerDevice, 0, 64);
    Objects.requireNonNull(immediateDelivery);
  }

  /**
   * {@return these with other stripes}
   *
   * @param value see {@link #minStripeBytes}
   */
  public Tuning withMinStripeBytes(long value) {
    return new Tuning(value, eagerBytes, immediateDelivery, controlOnAllRails, endpointsPerDevice);
  }

  /**
   * {@return these with another limit of what leaves at once}
   *
   * @param value see {@link #eagerBytes}
   */
  public Tuning withEagerBytes(int value) {
    return new Tuning(
        minStripeBytes, value, immediateDelivery, controlOnAllRails, endpointsPerDevice);
  }

  /**
   * {@return these with another way in which the receiver learns of stripes}
   *
   * @param value see {@link #immediateDelivery}
   */
  public Tuning withImmediateDelivery(ImmediateDelivery value) {
    return new Tuning(minStripeBytes, eagerBytes, value, controlOnAllRails, endpointsPerDevice);
  }

  /**
   * {@return these with control messages on all rails, or on one}
   *
   * @param value see {@link #controlOnAllRails}
   */
  public Tuning withControlOnAllRails(boolean value) {
    return new Tuning(minStripeBytes, eagerBytes, immediateDelivery, value, endpointsPerDevice);
  }

  /**
   * {@return these with another number of endpoints}
   *
   * @param value see {@link #endpointsPerDevice}
   */
  public Tuning withEndpointsPerDevice(int value) {
    return new Tuning(minStripeBytes, eagerBytes, immediateDelivery, controlOnAllRails, value);
  }
}
