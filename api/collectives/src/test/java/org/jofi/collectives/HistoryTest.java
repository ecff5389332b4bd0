package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.jofi.collectives.schedule.Operation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HistoryTest {
  private static final Operation BARRIER = Operation.of(Operation.Kind.BARRIER, 0);

  private static String name(int rank) {
    return "rank " + rank;
  }

  @Test
  void whatDiffersFirstIsTold() {
    History mine = new History();
    History other = new History();
    for (String words : new String[] {"a", "b", "c", "d"}) {
      mine.begin(words, BARRIER);
      other.begin(words.equals("a") ? "a" : words + "'", BARRIER);
    }
    mine.begin("e", BARRIER);
    History third = new History();
    assertNull(third.difference(mine.told(), 2, 0, HistoryTest::name));
    String found = "ranks do not do the same: rank 0 is in b; rank 1 in b'";
    assertEquals(found, mine.difference(other.told(), 0, 1, HistoryTest::name));
    // Who does the same as one of both learns it, too.
    assertEquals(found, third.difference(mine.told(), 2, 0, HistoryTest::name));
  }

  /** A rank that was ahead by more than is known, and words of no release. */
  @ParameterizedTest
  @ValueSource(
      strings = {"", "x", "1", "-1 a", "2000 b", "9223372036854775808 a", "1 a", "1 by\t1"})
  void whatIsNotUnderstoodIsNoDifference(String told) {
    History mine = new History();
    for (int i = 0; i < 1500; i++) {
      mine.begin("a", BARRIER);
    }
    assertNull(mine.difference(told, 0, 1, HistoryTest::name));
  }

  @ParameterizedTest
  @ValueSource(strings = {"1 by", "1 by\t1", "1 by\t1,3\t3", "1 by\tx,\t,", "1 by\t7,1\t2,1\t"})
  void lengthsThatAreNotUnderstoodAreNoDifference(String told) {
    History mine = new History();
    mine.begin("by", Operation.allToAll(new long[] {1, 2}, new long[] {1, 3}));
    assertNull(mine.difference(told, 1, 1, HistoryTest::name));
  }

  @Test
  void whatIsToldFitsIntoTheStoreWhateverTheLengths() {
    long[] lengths = new long[1024];
    Arrays.fill(lengths, Long.MAX_VALUE);
    History mine = new History();
    for (int i = 0; i < 8; i++) {
      mine.begin("by " + i, Operation.allToAll(lengths, lengths));
    }
    String told = mine.told();
    assertTrue(told.length() < 60 << 10 && told.startsWith("8 by 7\t"), told.substring(0, 20));
    mine.begin("short", BARRIER);
    assertEquals("9 short", mine.told().lines().toList().getLast());
  }
}
