package org.jofi.cli.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.collectives.DataType;
import org.jofi.collectives.Reduction;
import org.junit.jupiter.api.Test;

class ContributionsTest {
  private static final int ELEMENTS = 3 * Contributions.PERIOD + 5;

  private static MemorySegment array(int elements) {
    return Arena.ofAuto().allocate(4L * elements, 8);
  }

  @Test
  void everyWrongElementIsCounted() {
    Contributions moved = new Contributions(DataType.I32, null, 3);
    MemorySegment array = array(ELEMENTS);
    moved.fill(array, 2, 7);
    assertEquals(0, moved.wrong(array, 2, 0, 7));
    assertEquals(0, moved.wrong(array.asSlice(4L * 100), 2, 100, 7));
    array.setAtIndex(ValueLayout.JAVA_INT, 0, -1);
    array.setAtIndex(ValueLayout.JAVA_INT, ELEMENTS - 1, -1);
    assertEquals(2, moved.wrong(array, 2, 0, 7));
  }

  @Test
  void whatIsOfAnotherRankRoundOrElementIsWrong() {
    Contributions moved = new Contributions(DataType.F16, null, 3);
    MemorySegment array = array(ELEMENTS / 2);
    moved.fill(array, 1, 4);
    int most = ELEMENTS * 9 / 10;
    assertTrue(moved.wrong(array, 0, 0, 4) > most);
    assertTrue(moved.wrong(array, 1, 0, 5) > most);
    for (int chunk = 1; chunk < 1 << 20; chunk *= 2) {
      assertTrue(moved.wrong(array, 1, chunk, 4) > most, "chunk " + chunk);
    }
  }

  /** By plain arithmetic in the type, in the order of the ranks and in the other one. */
  @Test
  void sumsAreExactInTheShortestType() {
    int ranks = 64;
    for (int i = 0; i < Contributions.PERIOD; i++) {
      int index = i;
      float sum = 0;
      for (int rank = ranks - 1; rank >= 0; rank--) {
        sum += Contributions.value(DataType.BF16, Reduction.SUM, ranks, rank, i);
        assertEquals(0, Float.floatToIntBits(sum) << 16, () -> "element " + index);
      }
      assertEquals(Contributions.reduced(DataType.BF16, Reduction.SUM, ranks, i), sum);
      sum = 0;
      for (int rank = 0; rank < ranks; rank++) {
        sum += Contributions.value(DataType.F16, Reduction.AVERAGE, ranks, rank, i);
      }
      assertTrue(sum <= 2048);
      assertEquals(Contributions.reduced(DataType.F16, Reduction.AVERAGE, ranks, i), sum / ranks);
    }
  }

  @Test
  void moreRanksThanCanBeCheckedAreRefused() {
    Contributions.requireExact(DataType.BF16, Reduction.SUM, 256);
    Contributions.requireExact(DataType.BF16, Reduction.MAX, 10_000);
    assertEquals(
        "bf16 holds whole numbers up to 256 only, so that a sum of more than 256 ranks cannot be"
            + " checked; use --type f32",
        assertThrows(
                IllegalArgumentException.class,
                () -> new Contributions(DataType.BF16, Reduction.SUM, 257))
            .getMessage());
  }
}
