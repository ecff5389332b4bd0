package org.jofi.allocation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AllocationTest {
  /** Where escape analysis cannot follow. */
  @SuppressWarnings("unused")
  private static volatile Object kept = "";

  private long sum;
  private int runs;

  /** Work without an object. */
  private void count() {
    for (int i = 0; i < 100_000; i++) {
      sum = sum * 31 + i;
    }
    runs++;
  }

  @Test
  void whatAllocatesNothingPasses() {
    int made = Allocation.assertNone(this::count);
    assertEquals(runs, made);
    assertTrue(made >= Allocation.IN_A_ROW, () -> made + " runs");
  }

  /** One small object in every second run, which the least of any two runs does not show. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 10, Allocation.IN_A_ROW})
  void oneObjectInEveryFewRunsIsFound(int every) {
    AssertionError found =
        assertThrows(
            AssertionError.class,
            () ->
                Allocation.assertNone(
                    () -> {
                      count();
                      if (runs % every == 0) {
                        kept = new Object();
                      }
                    },
                    0));
    int last = Allocation.MOST_RUNS - Allocation.MOST_RUNS % every;
    assertTrue(
        String.valueOf(found.getMessage()).contains("B in run " + last + ","), found::getMessage);
  }

  @Test
  void whatIsAllocatedWhileItWarmsUpIsNotHeldAgainstATask() {
    int warmUp = 2 * Allocation.IN_A_ROW;
    Allocation.assertNone(
        () -> {
          count();
          if (runs <= warmUp) {
            kept = new byte[100];
          }
        });
    assertTrue(runs >= warmUp + Allocation.IN_A_ROW, () -> runs + " runs");
  }

  /** As where the compiler waits for a processor. */
  @Test
  void aCompilerThatIsLateIsWaitedFor() {
    int late = 2 * Allocation.MOST_RUNS;
    Allocation.assertNone(
        () -> {
          sum++;
          if (++runs <= late) {
            kept = new byte[100];
          }
        });
    assertTrue(runs >= late + Allocation.IN_A_ROW, () -> runs + " runs");
  }

  @Test
  void anotherThreadsObjectsAreNotCounted() throws InterruptedException {
    Thread other =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  while (!Thread.interrupted()) {
                    kept = new byte[100];
                  }
                });
    try {
      Allocation.assertNone(this::count);
    } finally {
      other.interrupt();
      other.join();
    }
  }
}
