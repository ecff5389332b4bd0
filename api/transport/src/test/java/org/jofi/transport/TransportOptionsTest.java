package org.jofi.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class TransportOptionsTest {

  @Test
  void defaultsAreAsDocumented() {
    TransportOptions options = TransportOptions.defaults();
    assertEquals("", options.provider());
    assertEquals(new Grouping.ByLocality(), options.grouping());
    assertEquals(8, options.maxRails());
    assertEquals(131_072, options.tuning().minStripeBytes());
    assertEquals(Duration.ofSeconds(30), options.connectTimeout());
    assertEquals(CacheOptions.DEFAULT, options.cache());
  }

  @Test
  void eachOptionOutOfBoundsIsNamed() {
    refuses("maxRails", b -> b.maxRails(0));
    refuses("maxRails", b -> b.maxRails(9));
    refuses("endpointsPerDevice", b -> b.tuning(Tuning.DEFAULT.withEndpointsPerDevice(65)));
    refuses("minStripeBytes", b -> b.tuning(Tuning.DEFAULT.withMinStripeBytes(127)));
    refuses("minStripeBytes", b -> b.tuning(Tuning.DEFAULT.withMinStripeBytes(129)));
    refuses("maxMessageBytes", b -> b.maxMessageBytes((1L << 40) + 1));
    refuses("connectTimeout", b -> b.connectTimeout(Duration.ZERO));
    refuses("requestTimeout", b -> b.requestTimeout(Duration.ofNanos(-1)));
    refuses("closeTimeout", b -> b.closeTimeout(Duration.ofDays(2)));
    refuses(
        "maxRails", b -> b.maxRails(1).grouping(new Grouping.Explicit(List.of(List.of("a", "b")))));
  }

  private static void refuses(String name, UnaryOperator<TransportOptions.Builder> change) {
    IllegalArgumentException refusal =
        assertThrows(
            IllegalArgumentException.class, () -> change.apply(TransportOptions.builder()).build());
    assertTrue(refusal.getMessage().contains(name), refusal.getMessage());
  }

  @Test
  void optionsCanBeChangedOneByOne() {
    TransportOptions some =
        TransportOptions.builder()
            .provider("efa")
            .tuning(Tuning.DEFAULT.withEagerBytes(7))
            .cache(CacheOptions.DEFAULT.withIdleBytes(5).withIdleRegistrations(3))
            .build();
    TransportOptions changed = some.toBuilder().maxRails(2).build();
    assertEquals("efa", changed.provider());
    assertEquals(7, changed.tuning().eagerBytes());
    assertEquals(new CacheOptions(3, 5, 1L << 30), changed.cache());
    assertEquals(2, changed.maxRails());
    assertEquals(8, some.maxRails());
    assertThrows(IllegalArgumentException.class, () -> new CacheOptions(0, -1, 0));
  }

  @Test
  void explicitGroupsHaveOneToEightRails() {
    assertThrows(IllegalArgumentException.class, () -> new Grouping.Explicit(List.of()));
    assertThrows(IllegalArgumentException.class, () -> new Grouping.Explicit(List.of(List.of())));
    assertThrows(
        IllegalArgumentException.class,
        () -> new Grouping.Explicit(List.of(Collections.nCopies(9, "rail0"))));
    assertEquals(
        8, new Grouping.Explicit(List.of(Collections.nCopies(8, "rail0"))).devices().get(0).size());
  }

  @Test
  void withoutATransportOpenSaysWhatToInstall() {
    TransportException refusal =
        assertThrows(TransportException.class, () -> Transport.open(TransportOptions.defaults()));
    assertEquals(FailureCause.UNAVAILABLE, refusal.failure().cause());
    assertTrue(refusal.getMessage().contains("jofi-rdma-protocol"), refusal.getMessage());
  }
}
