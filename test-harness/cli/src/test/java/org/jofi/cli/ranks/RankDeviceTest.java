package org.jofi.cli.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.junit.jupiter.api.Test;

class RankDeviceTest {

  @Test
  void aProviderThatNeverEndsItsCloseIsLeftBehind() {
    CountDownLatch never = new CountDownLatch(1);
    TransportException failure =
        assertThrows(
            TransportException.class,
            () -> RankDevice.closeWithin(never::await, Duration.ofMillis(200), "efa device"));
    assertEquals(FailureCause.TIMED_OUT, failure.failure().cause());
    assertTrue(failure.getMessage().contains("closing efa device did not end"), failure.toString());
    never.countDown();
  }

  @Test
  void itsCloseIsWaitedForAndItsFailureIsTheCallers() {
    AtomicInteger closed = new AtomicInteger();
    RankDevice.closeWithin(closed::incrementAndGet, Duration.ofSeconds(30), "efa device");
    assertEquals(1, closed.get());
    IllegalStateException reason = new IllegalStateException("in use");
    assertSame(
        reason,
        assertThrows(
            IllegalStateException.class,
            () ->
                RankDevice.closeWithin(
                    () -> {
                      throw reason;
                    },
                    Duration.ofSeconds(30),
                    "efa device")));
  }

  private static List<String> rails(String names, int rails) {
    TransportOptions.Builder options = TransportOptions.builder();
    try (RankDevice device = RankDevice.open(FabricChoice.of("sim:efa"), options, names, rails)) {
      return device.nics();
    }
  }

  @Test
  void railsAreChosenByTheNamesOfNics() {
    List<String> all = rails("", 0);
    String first = all.getFirst();
    String stem = first.substring(0, first.length() - 1);
    assertEquals(all, rails(first, 0));
    assertEquals(all, rails(stem, 0));
    assertEquals(List.of(first), rails("=" + first, 0));
    assertEquals(List.of(first, first), rails(first + "," + first, 0));
    assertEquals(List.of(first, first, first), rails("=" + first, 3));
    TransportException none = assertThrows(TransportException.class, () -> rails("^" + stem, 0));
    assertTrue(none.getMessage().contains("'^" + stem + "'"), none.getMessage());
    none = assertThrows(TransportException.class, () -> rails("=" + stem, 0));
    assertTrue(none.getMessage().contains("no NIC " + stem), none.getMessage());
    none = assertThrows(TransportException.class, () -> rails("nope," + first, 0));
    assertTrue(none.getMessage().contains("no NIC nope"), none.getMessage());
  }
}
