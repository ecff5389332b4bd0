package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An all-to-all by counts whose ranks do not agree on the length of a pair. */
class UnequalLengthsTest {

  /** What the sender passes on at once, and what it keeps until it is received. */
  @ParameterizedTest
  @CsvSource({"5,7", "0,5", "30000,0"})
  void bothAreNamedWithTheirLengths(int sent, int awaited) {
    Groups.simulated(
        3,
        Groups.OPTIONS,
        group -> {
          long[] to = {3, 3, 3};
          long[] from = {3, 3, 3};
          if (group.rank() == 0) {
            to[1] = sent;
          } else if (group.rank() == 1) {
            from[0] = awaited;
          }
          MemorySegment in = Arena.ofAuto().allocate(8 * 30_010L, 8);
          MemorySegment out = Arena.ofAuto().allocate(8 * 30_010L, 8).fill((byte) 1);
          MismatchException refused =
              assertThrows(
                  MismatchException.class,
                  () -> {
                    group.run(Collective.allToAll(DataType.I64, to, from), in, out);
                    // Who sent at once is through with it, and waits for the others here.
                    group.barrier();
                    group.barrier();
                  });
          String words = String.valueOf(refused.getMessage());
          if (group.rank() == 0) {
            assertTrue(words.contains("which sends it " + sent), words);
            assertTrue(words.contains("rank 1 in all-to-all by counts I64"), words);
            assertTrue(words.contains("which awaits " + awaited), words);
          } else if (group.rank() == 1) {
            assertTrue(words.contains("which awaits %d from it".formatted(awaited)), words);
            assertTrue(words.contains("rank 0 in all-to-all by counts I64"), words);
            assertTrue(words.contains("which sends " + sent), words);
            // Nothing was moved that does not match.
            assertEquals((byte) 1, out.get(ValueLayout.JAVA_BYTE, 0));
          } else {
            // All that it did itself was right.
            assertTrue(words.contains("rank 0") && words.contains("rank 1"), words);
          }
        });
  }
}
