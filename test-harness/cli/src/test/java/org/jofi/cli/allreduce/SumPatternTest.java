package org.jofi.cli.allreduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class SumPatternTest {
  private static final int ELEMENTS = 10_000;

  @Test
  void theSumIsExactInAnyOrder() {
    for (int ranks : new int[] {1, 2, 3, 64, 1024}) {
      for (int element = 0; element < 500; element++) {
        float up = 0;
        float down = 0;
        for (int rank = 0; rank < ranks; rank++) {
          up += SumPattern.value(rank, element, 7);
          down += SumPattern.value(ranks - 1 - rank, element, 7);
        }
        assertEquals(up, down);
        assertEquals(up, SumPattern.sum(ranks, element, 7));
        assertTrue(up < 1 << 24, "beyond what float32 counts exactly");
      }
    }
  }

  @Test
  void whatIsWrongIsCounted() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment array = arena.allocate(ValueLayout.JAVA_FLOAT, ELEMENTS);
      SumPattern.fill(array, ELEMENTS, 0, 3);
      assertEquals(0, SumPattern.wrong(array, ELEMENTS, 1, 3));
      assertEquals(ELEMENTS, SumPattern.wrong(array, ELEMENTS, 2, 3), "a rank is missing");
      assertTrue(SumPattern.wrong(array, ELEMENTS, 1, 4) > ELEMENTS * 0.99, "another round's");
      array.setAtIndex(
          ValueLayout.JAVA_FLOAT, 17, array.getAtIndex(ValueLayout.JAVA_FLOAT, 17) + 1);
      assertEquals(1, SumPattern.wrong(array, ELEMENTS, 1, 3));
    }
  }

  @Test
  void neighboursDiffer() {
    int same = 0;
    for (int element = 0; element < ELEMENTS; element++) {
      for (int distance : new int[] {1, 32, 1024}) {
        if (SumPattern.value(1, element, 0) == SumPattern.value(1, element + distance, 0)) {
          same++;
        }
      }
    }
    assertTrue(same < ELEMENTS * 3 / 50, same + " look alike");
    assertNotEquals(SumPattern.value(1, 5, 0), SumPattern.value(2, 5, 0));
  }
}
