package org.jofi.mr.cache;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StartTableTest {
  private static final long BASE = 0x7f00_0000_0000L;
  private static final long PAGE = 4096;

  /** Buffers side by side must not queue up behind each other's places. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 12, 16, 17, 64, 100, 256, 512, 1024})
  void buffersAtEqualDistancesAreSpread(long pages) {
    for (int entries : new int[] {1_000, 3_000, 8_000, 10_000, 50_000, 100_000}) {
      int length = 2 * Integer.highestOneBit(2 * entries - 1);
      boolean[] taken = new boolean[length];
      long further = 0;
      for (int i = 0; i < entries; i++) {
        long first = IntervalIndex.order(BASE + i * pages * PAGE);
        int slot = StartTable.home(first, length);
        for (; taken[slot]; slot = (slot + 1) & (length - 1)) {
          further++;
        }
        taken[slot] = true;
      }
      String found =
          "%d of %d pages are %d slots from their places".formatted(entries, pages, further);
      assertTrue(further <= 2L * entries, found);
    }
  }
}
