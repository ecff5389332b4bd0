package org.jofi.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class HousekeepingThreadTest {
  /** Far longer than a thread that is not stuck takes on a busy machine. */
  private static final Duration LONG = Duration.ofSeconds(60);

  @Test
  void answersUntilItIsClosed() throws InterruptedException {
    CountDownLatch twice = new CountDownLatch(2);
    AtomicInteger calls = new AtomicInteger();
    HousekeepingThread housekeeping =
        new HousekeepingThread(
            () -> {
              twice.countDown();
              calls.incrementAndGet();
            },
            LONG);
    twice.await();
    housekeeping.close();
    int then = calls.get();
    Thread.sleep(300);
    assertEquals(then, calls.get());
    housekeeping.close();
  }

  @Test
  void mayBeClosedAtOnce() {
    for (int i = 0; i < 200; i++) {
      new HousekeepingThread(() -> {}, LONG).close();
    }
  }

  /** As with a provider in a loop without an end, or a lock whose holder died. */
  @Test
  void closingDoesNotWaitForWhatNeverComesBack() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    HousekeepingThread housekeeping =
        new HousekeepingThread(
            () -> {
              inside.countDown();
              ProgressThreadTest.awaitUninterrupted(goOn);
            },
            Duration.ofMillis(300));
    inside.await();
    long began = System.nanoTime();
    for (int time = 0; time < 2; time++) {
      TransportException late = assertThrows(TransportException.class, housekeeping::close);
      assertEquals(FailureCause.TIMED_OUT, late.failure().cause());
    }
    assertTrue(System.nanoTime() - began < LONG.toNanos(), "closing is bounded");
    goOn.countDown();
    ProgressThreadTest.await(() -> closes(housekeeping));
  }

  private static boolean closes(HousekeepingThread housekeeping) {
    try {
      housekeeping.close();
      return true;
    } catch (TransportException stillInside) {
      return false;
    }
  }
}
