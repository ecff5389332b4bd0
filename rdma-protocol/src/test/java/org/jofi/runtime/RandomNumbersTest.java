package org.jofi.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RandomNumbersTest {
  private static final int MANY = 20_000;

  @Test
  void noTwoAreAlikeWhoeverAsks() {
    RandomNumbers numbers = new RandomNumbers();
    RandomNumbers others = new RandomNumbers();
    Set<Long> all = ConcurrentHashMap.newKeySet();
    IntStream.range(0, MANY)
        .parallel()
        .forEach(
            _ -> {
              all.add(numbers.getAsLong());
              all.add(others.getAsLong());
            });
    assertEquals(2 * MANY, all.size());
  }

  /** Each bit is set in half of them, within seven standard deviations. */
  @Test
  void eachBitIsOpen() {
    RandomNumbers numbers = new RandomNumbers();
    long[] drawn = LongStream.generate(numbers).limit(MANY).toArray();
    double most = 7 * Math.sqrt(MANY) / 2;
    for (int bit = 0; bit < Long.SIZE; bit++) {
      int number = bit;
      long set = LongStream.of(drawn).filter(one -> (one >>> number & 1) == 1).count();
      assertTrue(Math.abs(set - MANY / 2.0) < most, () -> "bit %d: %d".formatted(number, set));
    }
  }
}
