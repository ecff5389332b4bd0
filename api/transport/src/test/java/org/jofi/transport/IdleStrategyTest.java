package org.jofi.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class IdleStrategyTest {
  private static final Duration SLEEP = Duration.ofMillis(20);

  @Test
  void aLambdaIsToldHowMuchWasFound() {
    List<Integer> counts = new ArrayList<>();
    IdleStrategy idle = counts::add;
    idle.reset();
    idle.idle();
    idle.idle(7);
    assertEquals(List.of(1, 0, 7), counts);
  }

  @Test
  void backingOffSleepsOnlyWhenItHasSpunAndYieldedAndBeginsAgain() {
    // No bound from above: others may hold the processor.
    IdleStrategy idle = IdleStrategy.backoff(0, 0, SLEEP, SLEEP.multipliedBy(2));
    long first = nanos(idle, 0);
    long second = nanos(idle, 0);
    assertTrue(first >= SLEEP.toNanos() / 2, () -> "slept only " + first);
    assertTrue(second >= SLEEP.toNanos(), () -> "slept only " + second);
    idle.reset();
    // Each that works is for nothing; 1000 sleeps would take 20 s.
    long none = 0;
    for (int i = 0; i < 1_000; i++) {
      none += nanos(idle, 1);
    }
    long spent = none;
    assertTrue(spent < 1_000 * SLEEP.toNanos() / 2, () -> "slept with work to do: " + spent);
  }

  @Test
  void theOthersAreForAnyThread() {
    for (IdleStrategy idle : List.of(IdleStrategy.busySpin(), IdleStrategy.yielding())) {
      idle.reset();
      idle.idle();
      idle.idle(3);
    }
  }

  @Test
  void whatIsNoBackOffIsRefused() {
    Duration zero = Duration.ZERO;
    assertThrows(IllegalArgumentException.class, () -> IdleStrategy.backoff(0, 0, zero, SLEEP));
    assertThrows(
        IllegalArgumentException.class,
        () -> IdleStrategy.backoff(0, 0, SLEEP, SLEEP.dividedBy(2)));
    assertThrows(IllegalArgumentException.class, () -> IdleStrategy.backoff(-1, 0, SLEEP, SLEEP));
  }

  private static long nanos(IdleStrategy idle, int workCount) {
    long before = System.nanoTime();
    idle.idle(workCount);
    return System.nanoTime() - before;
  }
}
