package org.jofi.transport;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How to open a transport. Immutable. {@link Builder} says what each option means, and ends with
 * its default.
 */
public final class TransportOptions {
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

  private final String provider;
  private final NicNames nics;
  private final Grouping grouping;
  private final int maxRails;
  private final boolean controlOnAllRails;
  private final int endpointsPerDevice;
  private final ProgressThreads progressThreads;
  private final long minStripeBytes;
  private final long maxMessageBytes;
  private final int eagerBytes;
  private final ImmediateDelivery immediateDelivery;
  private final FlushPolicy flushPolicy;
  private final Duration connectTimeout;
  private final Duration requestTimeout;
  private final Duration peerTimeout;
  private final Duration closeTimeout;
  private final boolean requireGpuDirect;
  private final CacheOptions cache;
  private final RailListener railListener;

  private TransportOptions(Builder from) {
    provider = Objects.requireNonNull(from.provider);
    nics = Objects.requireNonNull(from.nics);
    grouping = Objects.requireNonNull(from.grouping);
    maxRails = from.maxRails;
    controlOnAllRails = from.controlOnAllRails;
    endpointsPerDevice = from.endpointsPerDevice;
    progressThreads = Objects.requireNonNull(from.progressThreads);
    minStripeBytes = from.minStripeBytes;
    maxMessageBytes = from.maxMessageBytes;
    eagerBytes = from.eagerBytes;
    immediateDelivery = Objects.requireNonNull(from.immediateDelivery);
    flushPolicy = Objects.requireNonNull(from.flushPolicy);
    connectTimeout = from.connectTimeout;
    requestTimeout = from.requestTimeout;
    peerTimeout = from.peerTimeout;
    closeTimeout = from.closeTimeout;
    requireGpuDirect = from.requireGpuDirect;
    cache = Objects.requireNonNull(from.cache);
    railListener = Objects.requireNonNull(from.railListener);
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

  /**
   * {@return libfabric's name of the provider to use; empty for any; see {@link Builder#provider}}
   */
  public String provider() {
    return provider;
  }

  /** {@return which NICs may be used; see {@link Builder#nics}} */
  public NicNames nics() {
    return nics;
  }

  /** {@return how NICs are grouped into devices; see {@link Builder#grouping}} */
  public Grouping grouping() {
    return grouping;
  }

  /** {@return the largest number of rails of a device, 1 to 8; see {@link Builder#maxRails}} */
  public int maxRails() {
    return maxRails;
  }

  /**
   * {@return whether control messages use all rails, and not only the first; see {@link
   * Builder#controlOnAllRails}}
   */
  public boolean controlOnAllRails() {
    return controlOnAllRails;
  }

  /**
   * {@return the number of endpoints of a device, 1 to 64, or 0 for automatic; see {@link
   * Builder#endpointsPerDevice}}
   */
  public int endpointsPerDevice() {
    return endpointsPerDevice;
  }

  /** {@return whether endpoints have progress threads; see {@link Builder#progressThreads}} */
  public ProgressThreads progressThreads() {
    return progressThreads;
  }

  /**
   * {@return for how many bytes a message has one stripe, a multiple of 128; see {@link
   * Builder#minStripeBytes}}
   */
  public long minStripeBytes() {
    return minStripeBytes;
  }

  /** {@return the longest message, in bytes; see {@link Builder#maxMessageBytes}} */
  public long maxMessageBytes() {
    return maxMessageBytes;
  }

  /**
   * {@return the longest message that may leave before its receive was announced, in bytes, or
   * {@link #EAGER_BY_PROVIDER}; see {@link Builder#eagerBytes}}
   */
  public int eagerBytes() {
    return eagerBytes;
  }

  /** {@return how the receiver learns of stripes; see {@link Builder#immediateDelivery}} */
  public ImmediateDelivery immediateDelivery() {
    return immediateDelivery;
  }

  /** {@return when flushes are needed; see {@link Builder#flushPolicy}} */
  public FlushPolicy flushPolicy() {
    return flushPolicy;
  }

  /** {@return the time limit for making a connection; see {@link Builder#connectTimeout}} */
  public Duration connectTimeout() {
    return connectTimeout;
  }

  /**
   * {@return how long a request may make no progress until it fails; see {@link
   * Builder#requestTimeout}}
   */
  public Duration requestTimeout() {
    return requestTimeout;
  }

  /**
   * {@return how long a peer may be silent until it counts as lost; see {@link
   * Builder#peerTimeout}}
   */
  public Duration peerTimeout() {
    return peerTimeout;
  }

  /**
   * {@return the time limit for closing a communicator or an endpoint; see {@link
   * Builder#closeTimeout}}
   */
  public Duration closeTimeout() {
    return closeTimeout;
  }

  /**
   * {@return whether opening fails unless device memory can be registered; see {@link
   * Builder#requireGpuDirect}}
   */
  public boolean requireGpuDirect() {
    return requireGpuDirect;
  }

  /** {@return what the registration cache keeps; see {@link Builder#cache}} */
  public CacheOptions cache() {
    return cache;
  }

  /** {@return who is told when a rail is lost or comes back; see {@link Builder#railListener}} */
  public RailListener railListener() {
    return railListener;
  }

  /** {@return the defaults} */
  public static TransportOptions defaults() {
    return builder().build();
  }

  /**
   * Starts from the defaults.
   *
   * @return a new builder, in which every option has its default
   */
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

  /**
   * Starts from these.
   *
   * @return a new builder, in which every option is as here
   */
  public Builder toBuilder() {
    Builder builder = new Builder();
    builder.provider = provider;
    builder.nics = nics;
    builder.grouping = grouping;
    builder.maxRails = maxRails;
    builder.controlOnAllRails = controlOnAllRails;
    builder.endpointsPerDevice = endpointsPerDevice;
    builder.progressThreads = progressThreads;
    builder.minStripeBytes = minStripeBytes;
    builder.maxMessageBytes = maxMessageBytes;
    builder.eagerBytes = eagerBytes;
    builder.immediateDelivery = immediateDelivery;
    builder.flushPolicy = flushPolicy;
    builder.connectTimeout = connectTimeout;
    builder.requestTimeout = requestTimeout;
    builder.peerTimeout = peerTimeout;
    builder.closeTimeout = closeTimeout;
    builder.requireGpuDirect = requireGpuDirect;
    builder.cache = cache;
    builder.railListener = railListener;
    return builder;
  }

  private List<Object> values() {
    return List.of(
        provider,
        nics,
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
        requireGpuDirect,
        cache,
        railListener);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof TransportOptions options && values().equals(options.values());
  }

  @Override
  public int hashCode() {
    return values().hashCode();
  }

  @Override
  public String toString() {
    return "options " + values();
  }

  /** Collects options, from the defaults on. Not for sharing between threads. */
  public static final class Builder {
    private String provider = "";
    private NicNames nics = NicNames.ANY;
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
    private CacheOptions cache = CacheOptions.DEFAULT;
    private RailListener railListener = RailListener.NONE;

    private Builder() {}

    /**
     * Libfabric's name of the provider to use, such as {@code efa}; empty for any, the default.
     *
     * @param value the name; empty, but not null, for any provider
     * @return this builder
     */
    public Builder provider(String value) {
      provider = value;
      return this;
    }

    /**
     * Which NICs may be used, by name; {@link NicNames#ANY} if not given. Other NICs are not seen,
     * also not by an explicit grouping.
     *
     * @param value the names
     * @return this builder
     */
    public Builder nics(NicNames value) {
      nics = value;
      return this;
    }

    /**
     * How NICs are grouped into devices; by locality.
     *
     * @param value the grouping; an explicit one may list at most {@link #maxRails} NICs per device
     * @return this builder
     */
    public Builder grouping(Grouping value) {
      grouping = value;
      return this;
    }

    /**
     * Largest number of rails of a device, 1 to 8; 8.
     *
     * @param value the number of rails, 1 to {@link TransportOptions#MAX_RAILS}
     * @return this builder
     */
    public Builder maxRails(int value) {
      maxRails = value;
      return this;
    }

    /**
     * Whether control messages use all rails, or only the first; all.
     *
     * @param value true for all rails, false for only the first
     * @return this builder
     */
    public Builder controlOnAllRails(boolean value) {
      controlOnAllRails = value;
      return this;
    }

    /**
     * Number of endpoints that the communicators of a device are spread over, 1 to 64, or 0 for
     * automatic; automatic, which is 4 if they have progress threads and else 1. With more
     * endpoints, more threads can use communicators of a device without waiting for each other's
     * lock.
     *
     * @param value the number of endpoints, 1 to 64, or 0 for automatic
     * @return this builder
     */
    public Builder endpointsPerDevice(int value) {
      endpointsPerDevice = value;
      return this;
    }

    /**
     * Whether endpoints have progress threads; never.
     *
     * @param value on which devices they have them
     * @return this builder
     */
    public Builder progressThreads(ProgressThreads value) {
      progressThreads = value;
      return this;
    }

    /**
     * A message has one stripe for every so many bytes, started ones included, and at most one per
     * rail; a multiple of 128; 131 072.
     *
     * @param value bytes per stripe, 128 to 2^40, and a multiple of {@link
     *     TransportOptions#STRIPE_ALIGNMENT_BYTES}
     * @return this builder
     */
    public Builder minStripeBytes(long value) {
      minStripeBytes = value;
      return this;
    }

    /**
     * Longest message, 1 to 2^40; 2^40.
     *
     * @param value the length, in bytes, 1 to {@link TransportOptions#LONGEST_MESSAGE_BYTES}
     * @return this builder
     */
    public Builder maxMessageBytes(long value) {
      maxMessageBytes = value;
      return this;
    }

    /**
     * Longest message from host memory that may leave before its receive was announced, 0 to 65
     * 472, or {@link #EAGER_BY_PROVIDER} for what suits the provider; that. 0 turns it off. Such a
     * message is copied, and its request is over once it left. Each side has a limit, and the lower
     * one counts. {@link DeviceLimits#eagerBytes} is what was chosen: 0 where all NICs take device
     * memory.
     *
     * @param value the length, in bytes, 0 to {@link #MOST_EAGER_BYTES}, or {@link
     *     #EAGER_BY_PROVIDER}
     * @return this builder
     */
    public Builder eagerBytes(int value) {
      eagerBytes = value;
      return this;
    }

    /**
     * How the receiver learns of stripes; automatic.
     *
     * @param value the way; one that a NIC cannot do makes the NIC unsuitable
     * @return this builder
     */
    public Builder immediateDelivery(ImmediateDelivery value) {
      immediateDelivery = value;
      return this;
    }

    /**
     * When flushes are needed; automatic.
     *
     * @param value for which memory a flush reads through the NICs
     * @return this builder
     */
    public Builder flushPolicy(FlushPolicy value) {
      flushPolicy = value;
      return this;
    }

    /**
     * Time limit for making a connection; 30 s.
     *
     * @param value the limit; above 0, and at most one day
     * @return this builder
     */
    public Builder connectTimeout(Duration value) {
      connectTimeout = value;
      return this;
    }

    /**
     * How long a matched request may make no progress, nor those before it, until it fails; 60 s.
     *
     * @param value the time; above 0, and at most one day
     * @return this builder
     */
    public Builder requestTimeout(Duration value) {
      requestTimeout = value;
      return this;
    }

    /**
     * How long a peer may be silent while something is pending until it counts as lost; 10 s. A
     * live peer answers even while its application computes.
     *
     * @param value the time; above 0, and at most one day
     * @return this builder
     */
    public Builder peerTimeout(Duration value) {
      peerTimeout = value;
      return this;
    }

    /**
     * Time limit for closing a communicator or an endpoint; 5 s.
     *
     * @param value the limit; above 0, and at most one day
     * @return this builder
     */
    public Builder closeTimeout(Duration value) {
      closeTimeout = value;
      return this;
    }

    /**
     * Whether opening fails unless device memory can be registered; no.
     *
     * @param value true if NICs that cannot register device memory are not suitable
     * @return this builder
     */
    public Builder requireGpuDirect(boolean value) {
      requireGpuDirect = value;
      return this;
    }

    /**
     * What the registration cache keeps; {@link CacheOptions#DEFAULT}.
     *
     * @param value the budgets of each device, and up to which length segments are registered whole
     * @return this builder
     */
    public Builder cache(CacheOptions value) {
      cache = value;
      return this;
    }

    /**
     * Who is told when a rail is lost or comes back; {@link RailListener#NONE}.
     *
     * @param value the listener, called by threads that make progress; it must not close the
     *     transport
     * @return this builder
     */
    public Builder railListener(RailListener value) {
      railListener = value;
      return this;
    }

    /**
     * Makes the options. The builder can be used further.
     *
     * @return the options as they are set now
     * @throws IllegalArgumentException if an option is out of bounds; the message names it and its
     *     bounds
     */
    public TransportOptions build() {
      return new TransportOptions(this);
    }
  }
}
