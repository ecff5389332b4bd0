package org.jofi.allocation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
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
    for (int i = 0; i < 1_000_000; i++) {
      sum = sum * 31 + i;
    }
    runs++;
  }

  @Test
  void whatAllocatesNothingPasses() {
    int made = Allocation.assertNone(this::count);
    assertEquals(runs, made);
    assertTrue(made >= Allocation.WARM_UP + Allocation.COUNTED, () -> made + " runs");
  }

  /** One small object in every second run, which the least of any two runs does not show. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
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
                    }));
    int guilty = String.valueOf(found.getMessage()).split(" B in run ", -1).length - 1;
    // The compiler may add one.
    assertTrue(guilty >= Allocation.COUNTED / every, found::getMessage);
  }

  @Test
  void aFewLateObjectsAreTheCompilersIfTheyAreSmall() {
    long[] bytes = new long[Allocation.COUNTED];
    Allocation.demandNone(bytes);
    bytes[7] = Allocation.LATE_BYTES;
    Allocation.demandNone(bytes);
    bytes[7]++;
    assertThrows(AssertionError.class, () -> Allocation.demandNone(bytes));
    Arrays.fill(bytes, 0, Allocation.LATE_RUNS, 16);
    bytes[7] = 0;
    Allocation.demandNone(bytes);
    bytes[19] = 16;
    AssertionError found = assertThrows(AssertionError.class, () -> Allocation.demandNone(bytes));
    assertTrue(
        String.valueOf(found.getMessage()).endsWith("16 B in run 5, 16 B in run 20 of 20"),
        found::getMessage);
  }

  @Test
  void whatIsAllocatedWhileItWarmsUpIsNotHeldAgainstATask() {
    Allocation.assertNone(
        () -> {
          count();
          if (runs < Allocation.WARM_UP) {
            kept = new byte[100];
          }
        });
    assertTrue(runs >= Allocation.WARM_UP + Allocation.COUNTED);
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
