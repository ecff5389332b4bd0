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
import org.jofi.transport.Tuning;
import org.jspecify.annotations.Nullable;

/**
 * Reads the transport's options from environment variables, since NCCL passes none to its plugins.
 * Numbers are decimal, and durations are in seconds. Options that are not set have the defaults of
 * {@link TransportOptions}.
 */
final class PluginOptions {
  private static final Duration USUAL_WARM_UP = Duration.ofSeconds(1);
  private static final Duration LONGEST_WARM_UP = Duration.ofMinutes(1);

  private final Map<String, String> environment;
  private Tuning tuning = Tuning.DEFAULT;
  private final TransportOptions.Builder builder =
      TransportOptions.builder()
          .progressThreads(ProgressThreads.AUTO)
          .maxMessageBytes(PropertiesStruct.MOST_MESSAGE_BYTES)
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
            Variable.WARM_UP,
            seconds -> {
              if (seconds.isNegative() || seconds.compareTo(LONGEST_WARM_UP) > 0) {
                throw new IllegalArgumentException("0 to 60");
              }
              chosen[0] = seconds;
            });
    return chosen[0];
  }

  private TransportOptions read() {
    set(Variable.PROVIDER, builder::provider);
    set(Variable.NICS, value -> builder.nics(NicNames.of(value)));
    set(Variable.GROUPING, value -> builder.grouping(grouping(value)));
    number(Variable.MAX_RAILS, builder::maxRails);
    number(Variable.ENDPOINTS_PER_DEVICE, value -> tuning = tuning.withEndpointsPerDevice(value));
    set(
        Variable.PROGRESS_THREADS,
        value -> builder.progressThreads(ProgressThreads.valueOf(constant(value))));
    set(
        Variable.MIN_STRIPE_BYTES,
        value -> tuning = tuning.withMinStripeBytes(Long.parseLong(value)));
    set(
        Variable.EAGER_BYTES,
        value ->
            tuning =
                tuning.withEagerBytes(
                    value.equals("auto")
                        ? Tuning.EAGER_BY_PROVIDER
                        : Integer.parseUnsignedInt(value)));
    set(
        Variable.IMMEDIATE_DELIVERY,
        value -> tuning = tuning.withImmediateDelivery(ImmediateDelivery.valueOf(constant(value))));
    set(Variable.FLUSH, value -> builder.flushPolicy(FlushPolicy.valueOf(constant(value))));
    number(
        Variable.KEEP_REGISTRATIONS,
        most -> builder.cache(CacheOptions.DEFAULT.withIdleRegistrations(most)));
    seconds(Variable.CONNECT_TIMEOUT, builder::connectTimeout);
    seconds(Variable.REQUEST_TIMEOUT, builder::requestTimeout);
    seconds(Variable.PEER_TIMEOUT, builder::peerTimeout);
    seconds(Variable.CLOSE_TIMEOUT, builder::closeTimeout);
    return builder.tuning(tuning).build();
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

  private void number(Variable variable, Consumer<Integer> setter) {
    set(variable, value -> setter.accept(Integer.valueOf(value)));
  }

  private void seconds(Variable variable, Consumer<Duration> setter) {
    set(
        variable,
        value -> setter.accept(Duration.ofNanos(Math.round(Double.parseDouble(value) * 1e9))));
  }

  private void set(Variable variable, Consumer<String> setter) {
    @Nullable String value = environment.get(variable.title());
    if (value == null || value.isBlank()) {
      return;
    }
    try {
      setter.accept(value.strip());
      // The transport's own limits: whatever was set before was within them.
      builder.build();
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(
          "%s='%s': must be %s (%s)"
              .formatted(variable.title(), value, variable.expected(), wrong.getMessage()),
          wrong);
    }
  }
}
