package org.jofi.nccl;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jofi.transport.CacheOptions;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.Grouping;
import org.jofi.transport.ImmediateDelivery;
import org.jofi.transport.NicNames;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Tuning;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PluginOptionsTest {

  @Test
  void whatIsNotSetIsAsTheTransportHasItButForThreadsAndTheCache() {
    assertEquals(
        TransportOptions.builder()
            .progressThreads(ProgressThreads.AUTO)
            .maxMessageBytes(PropertiesStruct.MOST_MESSAGE_BYTES)
            .cache(CacheOptions.DEFAULT.withIdleRegistrations(0))
            .build(),
        PluginOptions.from(Map.of("JOFI_PROVIDER", " ")));
  }

  @Test
  void theWarmUpIsBoundedAndCanBeTurnedOff() {
    assertEquals(Duration.ofSeconds(1), PluginOptions.warmUp(Map.of()));
    assertEquals(Duration.ZERO, PluginOptions.warmUp(Map.of("JOFI_WARM_UP", "0")));
    assertEquals(Duration.ofMillis(250), PluginOptions.warmUp(Map.of("JOFI_WARM_UP", "0.25")));
    for (String wrong : List.of("-1", "61", "long")) {
      IllegalArgumentException refused =
          assertThrows(
              IllegalArgumentException.class,
              () -> PluginOptions.warmUp(Map.of("JOFI_WARM_UP", wrong)));
      assertTrue(refused.getMessage().startsWith("JOFI_WARM_UP='" + wrong), refused::getMessage);
    }
  }

  @Test
  void everyVariableIsRead() {
    TransportOptions expected =
        TransportOptions.builder()
            .provider("efa")
            .nics(NicNames.of("^docker"))
            .grouping(new Grouping.Explicit(List.of(List.of("a", "b"), List.of("c"))))
            .maxRails(2)
            .progressThreads(ProgressThreads.ALWAYS)
            .maxMessageBytes(PropertiesStruct.MOST_MESSAGE_BYTES)
            .tuning(
                Tuning.DEFAULT
                    .withEndpointsPerDevice(3)
                    .withMinStripeBytes(256)
                    .withEagerBytes(8192)
                    .withImmediateDelivery(ImmediateDelivery.WRITE_THEN_SEND))
            .flushPolicy(FlushPolicy.NEVER)
            .cache(CacheOptions.DEFAULT.withIdleRegistrations(17))
            .connectTimeout(Duration.ofSeconds(1))
            .requestTimeout(Duration.ofMillis(2500))
            .closeTimeout(Duration.ofSeconds(3))
            .build();

    assertEquals(
        expected,
        PluginOptions.from(
            Map.ofEntries(
                entry("JOFI_PROVIDER", "efa"),
                entry("JOFI_NICS", "^docker"),
                entry("JOFI_GROUPING", "a, b;c"),
                entry("JOFI_MAX_RAILS", "2"),
                entry("JOFI_ENDPOINTS_PER_DEVICE", "3"),
                entry("JOFI_PROGRESS_THREADS", "always"),
                entry("JOFI_MIN_STRIPE_BYTES", "256"),
                entry("JOFI_EAGER_BYTES", "8192"),
                entry("JOFI_IMMEDIATE_DELIVERY", "write-then-send"),
                entry("JOFI_FLUSH", "never"),
                entry("JOFI_KEEP_REGISTRATIONS", "17"),
                entry("JOFI_CONNECT_TIMEOUT", "1"),
                entry("JOFI_REQUEST_TIMEOUT", "2.5"),
                entry("JOFI_CLOSE_TIMEOUT", "3"))));
  }

  @ParameterizedTest
  @CsvSource({
    "JOFI_MAX_RAILS, many",
    "JOFI_MAX_RAILS, 9",
    "JOFI_ENDPOINTS_PER_DEVICE, -1",
    "JOFI_PROGRESS_THREADS, some",
    "JOFI_MIN_STRIPE_BYTES, 100",
    "JOFI_EAGER_BYTES, 65473",
    "JOFI_EAGER_BYTES, -1",
    "JOFI_IMMEDIATE_DELIVERY, pigeon",
    "JOFI_FLUSH, perhaps",
    "JOFI_NICS, ^",
    "JOFI_PEER_TIMEOUT, NaN",
    "JOFI_GROUPING, ';'",
    "JOFI_CONNECT_TIMEOUT, soon",
    "JOFI_REQUEST_TIMEOUT, -1",
    "JOFI_CLOSE_TIMEOUT, NaN"
  })
  void aWrongValueIsNamed(String variable, String value) {
    String message =
        assertThrows(
                IllegalArgumentException.class, () -> PluginOptions.from(Map.of(variable, value)))
            .getMessage();
    assertTrue(message.startsWith(variable + "='" + value + "': must be "), message);
  }
}
