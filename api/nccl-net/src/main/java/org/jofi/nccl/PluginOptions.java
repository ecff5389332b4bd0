package org.jofi.nccl;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jofi.transport.CacheOptions;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.Grouping;
import org.jofi.transport.ImmediateDelivery;
import org.jofi.transport.NicNames;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.TransportOptions;
import org.jspecify.annotations.Nullable;

/**
 * Reads the transport's options from environment variables, since NCCL passes none to its plugins.
 * Numbers are decimal, and durations are in seconds. Options that are not set have the defaults of
 * {@link TransportOptions}.
 */
final class PluginOptions {
  /** libfabric's name of the provider to use. */
  static final String PROVIDER = "JOFI_PROVIDER";

  /** Which NICs to use, by name: {@link NicNames}. */
  static final String NICS = "JOFI_NICS";

  /** {@code locality}, {@code each-nic}, {@code together}, or names of NICs: {@code a,b;c,d}. */
  static final String GROUPING = "JOFI_GROUPING";

  static final String MAX_RAILS = "JOFI_MAX_RAILS";
  static final String ENDPOINTS_PER_DEVICE = "JOFI_ENDPOINTS_PER_DEVICE";

  /**
   * {@code auto}, {@code always} or {@code never}. The default is automatic, because NCCL has only
   * one thread that makes progress.
   */
  static final String PROGRESS_THREADS = "JOFI_PROGRESS_THREADS";

  static final String MIN_STRIPE_BYTES = "JOFI_MIN_STRIPE_BYTES";

  static final String EAGER_BYTES = "JOFI_EAGER_BYTES";

  /** {@code auto}, {@code write-data} or {@code write-then-send}. */
  static final String IMMEDIATE_DELIVERY = "JOFI_IMMEDIATE_DELIVERY";

  /** {@code auto}, {@code always} or {@code never}. */
  static final String FLUSH = "JOFI_FLUSH";

  /** How many registrations are kept that NCCL gave back. */
  static final String KEEP_REGISTRATIONS = "JOFI_KEEP_REGISTRATIONS";

  static final String CONNECT_TIMEOUT = "JOFI_CONNECT_TIMEOUT";
  static final String REQUEST_TIMEOUT = "JOFI_REQUEST_TIMEOUT";
  static final String PEER_TIMEOUT = "JOFI_PEER_TIMEOUT";
  static final String CLOSE_TIMEOUT = "JOFI_CLOSE_TIMEOUT";

  /** How long each device is warmed up at most; 0 turns it off. */
  static final String WARM_UP = "JOFI_WARM_UP";

  /** All of them. */
  static final List<String> NAMES =
      List.of(
          PROVIDER,
          NICS,
          GROUPING,
          MAX_RAILS,
          ENDPOINTS_PER_DEVICE,
          PROGRESS_THREADS,
          MIN_STRIPE_BYTES,
          EAGER_BYTES,
          IMMEDIATE_DELIVERY,
          FLUSH,
          KEEP_REGISTRATIONS,
          CONNECT_TIMEOUT,
          REQUEST_TIMEOUT,
          PEER_TIMEOUT,
          CLOSE_TIMEOUT,
          WARM_UP);

  private static final Duration USUAL_WARM_UP = Duration.ofSeconds(1);
  private static final Duration LONGEST_WARM_UP = Duration.ofMinutes(1);

  private final Map<String, String> environment;
  private final TransportOptions.Builder builder =
      TransportOptions.builder()
          .progressThreads(ProgressThreads.AUTO)
          // NCCL gives memory back when it is about to free it, and keeps what it uses registered.
          .cache(CacheOptions.DEFAULT.withIdleRegistrations(0));

  private PluginOptions(Map<String, String> environment) {
    this.environment = environment;
  }

  /**
   * The options that an environment asks for.
   *
   * @throws IllegalArgumentException if a variable is wrong; the message names it and its possible
   *     values
   */
  static TransportOptions from(Map<String, String> environment) {
    return new PluginOptions(environment).read();
  }

  /**
   * How long an environment lets each device be warmed up.
   *
   * @throws IllegalArgumentException likewise
   */
  static Duration warmUp(Map<String, String> environment) {
    Duration[] chosen = {USUAL_WARM_UP};
    new PluginOptions(environment)
        .seconds(
            WARM_UP,
            seconds -> {
              if (seconds.isNegative() || seconds.compareTo(LONGEST_WARM_UP) > 0) {
                throw new IllegalArgumentException("0 to 60");
              }
              chosen[0] = seconds;
            });
    return chosen[0];
  }

  private TransportOptions read() {
    set(PROVIDER, "a provider's name", builder::provider);
    set(
        NICS,
        "names of NICs, or what they begin with, as eth,ib; =eth0,eth1; ^docker",
        value -> builder.nics(NicNames.of(value)));
    set(
        GROUPING,
        "locality, each-nic, together, or NICs by name as a,b;c,d",
        value -> builder.grouping(grouping(value)));
    number(MAX_RAILS, builder::maxRails);
    number(ENDPOINTS_PER_DEVICE, builder::endpointsPerDevice);
    set(
        PROGRESS_THREADS,
        "auto, always or never",
        value -> builder.progressThreads(ProgressThreads.valueOf(constant(value))));
    set(
        MIN_STRIPE_BYTES,
        "a number of bytes, a multiple of 128",
        value -> builder.minStripeBytes(Long.parseLong(value)));
    set(
        EAGER_BYTES,
        "auto, or a number of bytes",
        value ->
            builder.eagerBytes(
                value.equals("auto")
                    ? TransportOptions.EAGER_BY_PROVIDER
                    : Integer.parseUnsignedInt(value)));
    set(
        IMMEDIATE_DELIVERY,
        "auto, write-data or write-then-send",
        value -> builder.immediateDelivery(ImmediateDelivery.valueOf(constant(value))));
    set(
        FLUSH,
        "auto, always or never",
        value -> builder.flushPolicy(FlushPolicy.valueOf(constant(value))));
    number(
        KEEP_REGISTRATIONS,
        most -> builder.cache(CacheOptions.DEFAULT.withIdleRegistrations(most)));
    seconds(CONNECT_TIMEOUT, builder::connectTimeout);
    seconds(REQUEST_TIMEOUT, builder::requestTimeout);
    seconds(PEER_TIMEOUT, builder::peerTimeout);
    seconds(CLOSE_TIMEOUT, builder::closeTimeout);
    return builder.build();
  }

  private static Grouping grouping(String value) {
    return switch (value) {
      case "locality" -> new Grouping.ByLocality();
      case "each-nic" -> new Grouping.EachNic();
      case "together" -> new Grouping.Together();
      default ->
          new Grouping.Explicit(Arrays.stream(value.split(";")).map(PluginOptions::names).toList());
    };
  }

  private static List<String> names(String device) {
    return Arrays.stream(device.split(","))
        .map(String::strip)
        .filter(name -> !name.isEmpty())
        .toList();
  }

  private static String constant(String value) {
    return value.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  private void number(String variable, Consumer<Integer> setter) {
    set(variable, "a number", value -> setter.accept(Integer.valueOf(value)));
  }

  private void seconds(String variable, Consumer<Duration> setter) {
    set(
        variable,
        "a number of seconds, such as 30 or 0.5",
        value -> setter.accept(Duration.ofNanos(Math.round(Double.parseDouble(value) * 1e9))));
  }

  private void set(String variable, String expected, Consumer<String> setter) {
    @Nullable String value = environment.get(variable);
    if (value == null || value.isBlank()) {
      return;
    }
    try {
      setter.accept(value.strip());
      // The transport's own limits: whatever was set before was within them.
      builder.build();
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(
          "%s='%s': must be %s (%s)".formatted(variable, value, expected, wrong.getMessage()),
          wrong);
    }
  }
}
