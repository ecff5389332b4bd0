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

  private static final Duration LONGEST_TIMEOUT = Duration.ofDays(1);

  private final String provider;
  private final NicNames nics;
  private final Grouping grouping;
  private final int maxRails;
  private final ProgressThreads progressThreads;
  private final long maxMessageBytes;
  private final FlushPolicy flushPolicy;
  private final Duration connectTimeout;
  private final Duration requestTimeout;
  private final Duration peerTimeout;
  private final Duration closeTimeout;
  private final boolean requireGpuDirect;
  private final CacheOptions cache;
  private final Tuning tuning;
  private final RailListener railListener;

  private TransportOptions(Builder from) {
    provider = Objects.requireNonNull(from.provider);
    nics = Objects.requireNonNull(from.nics);
    grouping = Objects.requireNonNull(from.grouping);
    maxRails = from.maxRails;
    progressThreads = Objects.requireNonNull(from.progressThreads);
    maxMessageBytes = from.maxMessageBytes;
    flushPolicy = Objects.requireNonNull(from.flushPolicy);
    connectTimeout = from.connectTimeout;
    requestTimeout = from.requestTimeout;
    peerTimeout = from.peerTimeout;
    closeTimeout = from.closeTimeout;
    requireGpuDirect = from.requireGpuDirect;
    cache = Objects.requireNonNull(from.cache);
    tuning = Objects.requireNonNull(from.tuning);
    railListener = Objects.requireNonNull(from.railListener);
    within("maxRails", maxRails, 1, MAX_RAILS);
    within("maxMessageBytes", maxMessageBytes, 1, LONGEST_MESSAGE_BYTES);
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

  /** {@return whether endpoints have progress threads; see {@link Builder#progressThreads}} */
  public ProgressThreads progressThreads() {
    return progressThreads;
  }

  /** {@return the longest message, in bytes; see {@link Builder#maxMessageBytes}} */
  public long maxMessageBytes() {
    return maxMessageBytes;
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

  /** {@return what most programs leave as it is; see {@link Builder#tuning}} */
  public Tuning tuning() {
    return tuning;
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

  static void within(String option, long value, long least, long most) {
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
    builder.progressThreads = progressThreads;
    builder.maxMessageBytes = maxMessageBytes;
    builder.flushPolicy = flushPolicy;
    builder.connectTimeout = connectTimeout;
    builder.requestTimeout = requestTimeout;
    builder.peerTimeout = peerTimeout;
    builder.closeTimeout = closeTimeout;
    builder.requireGpuDirect = requireGpuDirect;
    builder.cache = cache;
    builder.tuning = tuning;
    builder.railListener = railListener;
    return builder;
  }

  private List<Object> values() {
    return List.of(
        provider,
        nics,
        grouping,
        maxRails,
        progressThreads,
        maxMessageBytes,
        flushPolicy,
        connectTimeout,
        requestTimeout,
        peerTimeout,
        closeTimeout,
        requireGpuDirect,
        cache,
        tuning,
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
    private ProgressThreads progressThreads = ProgressThreads.NEVER;
    private long maxMessageBytes = LONGEST_MESSAGE_BYTES;
    private FlushPolicy flushPolicy = FlushPolicy.AUTO;
    private Duration connectTimeout = Duration.ofSeconds(30);
    private Duration requestTimeout = Duration.ofSeconds(60);
    private Duration peerTimeout = Duration.ofSeconds(10);
    private Duration closeTimeout = Duration.ofSeconds(5);
    private boolean requireGpuDirect;
    private CacheOptions cache = CacheOptions.DEFAULT;
    private Tuning tuning = Tuning.DEFAULT;
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
     * What most programs leave as it is; {@link Tuning#DEFAULT}.
     *
     * @param value how messages are cut and sent, and over how many endpoints
     * @return this builder
     */
    public Builder tuning(Tuning value) {
      tuning = value;
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
