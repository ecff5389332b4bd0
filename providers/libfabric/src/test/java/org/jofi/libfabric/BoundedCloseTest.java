package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jofi.fabric.FabricErrno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class BoundedCloseTest {
  private static final int LATE = -FabricErrno.ETIMEDOUT;

  private final BoundedClose closing = new BoundedClose("an endpoint", 50);
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicInteger calls = new AtomicInteger();

  /** As a provider whose operations do not end before somebody lets them. */
  private int slow() {
    calls.incrementAndGet();
    try {
      ended.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return 0;
  }

  @Test
  void whatTheProviderSaysIsReturned() {
    assertEquals(-FabricErrno.EBUSY, closing.close(() -> -FabricErrno.EBUSY));
    assertEquals(0, closing.close(() -> 0));
  }

  @Test
  void theCallIsMadeOnceAndWaitedForAgain() {
    assertEquals(LATE, closing.close(this::slow));
    assertEquals(LATE, closing.close(this::slow));
    ended.countDown();
    int result;
    do {
      result = closing.close(this::slow);
    } while (result == LATE);
    assertEquals(0, result);
    assertEquals(1, calls.get());
  }

  @Test
  void anInterruptIsKeptForLater() {
    Thread.currentThread().interrupt();
    assertEquals(LATE, closing.close(this::slow));
    assertTrue(Thread.interrupted());
    ended.countDown();
  }

  @Test
  void whatTheCallThrowsComesWithItsCause() {
    IllegalStateException thrown =
        assertThrows(
            IllegalStateException.class,
            () ->
                closing.close(
                    () -> {
                      throw new UnsupportedOperationException("no such call");
                    }));
    assertEquals("no such call", thrown.getCause().getMessage());
  }
}
