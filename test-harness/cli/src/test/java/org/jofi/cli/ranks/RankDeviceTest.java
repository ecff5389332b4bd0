package org.jofi.cli.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.junit.jupiter.api.Test;

class RankDeviceTest {

  @Test
  void aProviderThatNeverEndsItsCloseIsLeftBehind() {
    CountDownLatch never = new CountDownLatch(1);
    TransportException failure =
        assertThrows(
            TransportException.class,
            () -> RankDevice.closeWithin(never::await, Duration.ofMillis(200), "efa device"));
    assertEquals(FailureCause.TIMED_OUT, failure.failure());
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
}
