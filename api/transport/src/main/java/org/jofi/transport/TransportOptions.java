package org.jofi.transport;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * How to open a transport. Immutable. Each parameter's description ends with its default, which
 * {@link #builder} starts from.
 *
 * @param provider libfabric's name of the provider to use, such as {@code efa}; empty for any, the
 *     default
 * @param grouping how NICs are grouped into devices; by locality
 * @param maxRails largest number of rails of a device, 1 to 8; 8
 * @param controlOnAllRails whether control messages use all rails, or only the first; all
 * @param endpointsPerDevice number of endpoints that the communicators of a device are spread over,
 *     1 to 64, or 0 for automatic; automatic, which is 4 if they have progress threads and else 1.
 *     With more endpoints, more threads can use communicators of a device without waiting for each
 *     other's lock.
 * @param progressThreads whether endpoints have progress threads; never
 * @param minStripeBytes a message has one stripe for every so many bytes, started ones included,
 *     and at most one per rail; a multiple of 128; 131 072
 * @param maxMessageBytes longest message, 1 to 2^40; 2^40
 * @param eagerBytes longest message from host memory that may leave before its receive was
 *     announced, 0 to 65 472, or {@link #EAGER_BY_PROVIDER} for what suits the provider; that. 0
 *     turns it off. Such a message is copied, and its request is over once it left. Each side has a
 *     limit, and the lower one counts. {@link DeviceLimits#eagerBytes} is what was chosen.
 * @param immediateDelivery how the receiver learns of stripes; automatic
 * @param flushPolicy when flushes are needed; automatic
 * @param connectTimeout time limit for making a connection; 30 s
 * @param requestTimeout how long a matched request may make no progress, nor those before it, until
 *     it fails; 60 s
 * @param peerTimeout how long a peer may be silent while something is pending until it counts as
 *     lost; 10 s. A live peer answers even while its application computes.
 * @param closeTimeout time limit for closing a communicator or an endpoint; 5 s
 * @param requireGpuDirect whether opening fails unless device memory can be registered; no
 */
public record TransportOptions(
    String provider,
    Grouping grouping,
    int maxRails,
    boolean controlOnAllRails,
    int endpointsPerDevice,
    ProgressThreads progressThreads,
    long minStripeBytes,
    long maxMessageBytes,
    int eagerBytes,
    ImmediateDelivery immediateDelivery,
    FlushPolicy flushPolicy,
    Duration connectTimeout,
    Duration requestTimeout,
    Duration peerTimeout,
    Duration closeTimeout,
    boolean requireGpuDirect) {

  /** Largest number of rails of a device. */
  public static final int MAX_RAILS = 8;

  /** Stripes begin at multiples of this. */
  public static final int STRIPE_ALIGNMENT_BYTES = 128;

  /** The longest message that can be configured. */
  public static final long LONGEST_MESSAGE_BYTES = 1L << 40;

  /** The longest that {@link #eagerBytes} can be. */
  public static final int MOST_EAGER_BYTES = 64 * 1024 - 64;

  /** Short messages leave as it suits the provider. */
  public static final int EAGER_BY_PROVIDER = -1;

  private static final Duration LONGEST_TIMEOUT = Duration.ofDays(1);

  /**
   * @throws IllegalArgumentException if an option is out of bounds; the message names it and its
   *     bounds
   */
  public TransportOptions {
    Objects.requireNonNull(provider);
    Objects.requireNonNull(grouping);
    Objects.requireNonNull(progressThreads);
    Objects.requireNonNull(immediateDelivery);
    Objects.requireNonNull(flushPolicy);
    within("maxRails", maxRails, 1, MAX_RAILS);
    within("endpointsPerDevice", endpointsPerDevice, 0, 64);
    within("minStripeBytes", minStripeBytes, STRIPE_ALIGNMENT_BYTES, LONGEST_MESSAGE_BYTES);
    within("maxMessageBytes", maxMessageBytes, 1, LONGEST_MESSAGE_BYTES);
    within("eagerBytes", eagerBytes, EAGER_BY_PROVIDER, MOST_EAGER_BYTES);
    if (minStripeBytes % STRIPE_ALIGNMENT_BYTES != 0) {
      throw new IllegalArgumentException(
          "minStripeBytes must be a multiple of %d, is %d"
              .formatted(STRIPE_ALIGNMENT_BYTES, minStripeBytes));
    }
    within("connectTimeout", connectTimeout);
    within("requestTimeout", requestTimeout);
    within("peerTimeout", peerTimeout);
    within("closeTimeout", closeTimeout);
    if (grouping instanceof Grouping.Explicit(List<List<String>> devices)) {
      for (List<String> device : devices) {
        if (device.size() > maxRails) {
          throw new IllegalArgumentException(
              "explicit device %s has %d rails, and maxRails is %d"
                  .formatted(device, device.size(), maxRails));
        }
      }
    }
  }

  /** The defaults. */
  public static TransportOptions defaults() {
    return builder().build();
  }

  /** Starts from the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  private static void within(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s must be %d to %d, is %d".formatted(option, least, most, value));
    }
  }

  private static void within(String option, Duration value) {
    if (value.isNegative() || value.isZero() || value.compareTo(LONGEST_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "%s must be above 0 and at most %s, is %s".formatted(option, LONGEST_TIMEOUT, value));
    }
  }

  /** Collects options. Not for sharing between threads. */
  public static final class Builder {
    private String provider = "";
    private Grouping grouping = new Grouping.ByLocality();
    private int maxRails = MAX_RAILS;
    private boolean controlOnAllRails = true;
    private int endpointsPerDevice;
    private ProgressThreads progressThreads = ProgressThreads.NEVER;
    private long minStripeBytes = 128 * 1024;
    private long maxMessageBytes = LONGEST_MESSAGE_BYTES;
    private int eagerBytes = EAGER_BY_PROVIDER;
    private ImmediateDelivery immediateDelivery = ImmediateDelivery.AUTO;
    private FlushPolicy flushPolicy = FlushPolicy.AUTO;
    private Duration connectTimeout = Duration.ofSeconds(30);
    private Duration requestTimeout = Duration.ofSeconds(60);
    private Duration peerTimeout = Duration.ofSeconds(10);
    private Duration closeTimeout = Duration.ofSeconds(5);
    private boolean requireGpuDirect;

    private Builder() {}

    public Builder provider(String value) {
      provider = value;
      return this;
    }

    public Builder grouping(Grouping value) {
      grouping = value;
      return this;
    }

    public Builder maxRails(int value) {
      maxRails = value;
      return this;
    }

    public Builder controlOnAllRails(boolean value) {
      controlOnAllRails = value;
      return this;
    }

    public Builder endpointsPerDevice(int value) {
      endpointsPerDevice = value;
      return this;
    }

    public Builder progressThreads(ProgressThreads value) {
      progressThreads = value;
      return this;
    }

    public Builder minStripeBytes(long value) {
      minStripeBytes = value;
      return this;
    }

    public Builder maxMessageBytes(long value) {
      maxMessageBytes = value;
      return this;
    }

    public Builder eagerBytes(int value) {
      eagerBytes = value;
      return this;
    }

    public Builder immediateDelivery(ImmediateDelivery value) {
      immediateDelivery = value;
      return this;
    }

    public Builder flushPolicy(FlushPolicy value) {
      flushPolicy = value;
      return this;
    }

    public Builder connectTimeout(Duration value) {
      connectTimeout = value;
      return this;
    }

    public Builder requestTimeout(Duration value) {
      requestTimeout = value;
      return this;
    }

    public Builder peerTimeout(Duration value) {
      peerTimeout = value;
      return this;
    }

    public Builder closeTimeout(Duration value) {
      closeTimeout = value;
      return this;
    }

    public Builder requireGpuDirect(boolean value) {
      requireGpuDirect = value;
      return this;
    }

    /**
     * The options.
     *
     * @throws IllegalArgumentException if an option is out of bounds; the message names it
     */
    public TransportOptions build() {
      return new TransportOptions(
          provider,
          grouping,
          maxRails,
          controlOnAllRails,
          endpointsPerDevice,
          progressThreads,
          minStripeBytes,
          maxMessageBytes,
          eagerBytes,
          immediateDelivery,
          flushPolicy,
          connectTimeout,
          requestTimeout,
          peerTimeout,
          closeTimeout,
          requireGpuDirect);
    }
  }
}
