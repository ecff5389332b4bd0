package org.jofi.mr.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Keys are unique while live, fit their width, and are used again as late as possible. */
public class KeyPoolProperties {
  private static final SecureRandom RANDOM = new SecureRandom();

  @Property(tries = 1000)
  void keysAreUniqueWhileLive(
      @ForAll @IntRange(min = 1, max = 8) int width,
      @ForAll @Size(max = 600) List<@IntRange(min = -200, max = 600) Integer> steps) {
    KeyPool pool = new KeyPool("nic0", width, RANDOM::nextLong);
    List<Long> live = new ArrayList<>();
    for (int step : steps) {
      if (step >= 0 || live.isEmpty()) {
        if (width == 1 && live.size() == 256) {
          assertThrows(KeysExhaustedException.class, pool::take);
          continue;
        }
        long key = pool.take();
        assertTrue(width == 8 ? key != -1 : key >>> (8 * width) == 0, () -> "0x%x".formatted(key));
        assertTrue(!live.contains(key), () -> "key 0x%x is live already".formatted(key));
        live.add(key);
      } else {
        pool.giveBack(live.remove(-step % live.size()));
      }
      assertEquals(live.size(), pool.live());
    }
  }

  @Property(tries = 1000)
  void exhaustionTakesNothingAndFreesNothing(@ForAll @IntRange(min = 0, max = 255) int freed) {
    KeyPool pool = new KeyPool("nic0", 1, RANDOM::nextLong);
    for (int i = 0; i < 256; i++) {
      pool.take();
    }
    KeysExhaustedException first = assertThrows(KeysExhaustedException.class, pool::take);
    assertTrue(first.getMessage().contains("nic0") && first.getMessage().contains("256"));
    assertThrows(KeysExhaustedException.class, pool::take);
    assertEquals(256, pool.live());
    pool.giveBack(freed);
    assertThrows(IllegalStateException.class, () -> pool.giveBack(freed));
    assertEquals(freed, pool.take());
    assertThrows(KeysExhaustedException.class, pool::take);
  }

  @Property(tries = 1000)
  void aKeyRestsAsLongAsPossible(@ForAll @IntRange(min = 1, max = 60) int live) {
    KeyPool pool = new KeyPool("nic0", 1, RANDOM::nextLong);
    long first = pool.take();
    for (int i = 1; i < live; i++) {
      pool.take();
    }
    pool.giveBack(first);
    for (int i = 0; i < 256 - live; i++) {
      assertTrue(pool.take() != first, "a key was used again although fresh ones were left");
    }
    assertEquals(first, pool.take());
  }

  /** Of keys of 4 bytes and more, the next ones say nothing about those that are live. */
  @Property(tries = 200)
  void keysAreDrawnFromTheirWholeWidth(@ForAll @IntRange(min = 4, max = 8) int width) {
    KeyPool pool = new KeyPool("nic0", width, RANDOM::nextLong);
    KeyPool other = new KeyPool("nic0", width, RANDOM::nextLong);
    long set = 0;
    long cleared = 0;
    int near = 0;
    long before = pool.take();
    for (int i = 0; i < 64; i++) {
      long key = pool.take();
      set |= key;
      cleared |= ~key;
      near += Math.abs(key - before) < 1 << 16 || key == other.take() ? 1 : 0;
      before = key;
    }
    long all = width == 8 ? -1L : (1L << (8 * width)) - 1;
    assertEquals(all, set & all, "bits that are never set");
    assertEquals(all, cleared & all, "bits that are always set");
    assertTrue(near <= 2, near + " of 64 keys follow from others");
  }
}
