package org.jofi.rdma.sequence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class CommunicatorIdsProperties {

  /** Against a queue: least recently freed first. */
  @Property(tries = 100)
  void idsComeBackInOrder(
      @ForAll Random random, @ForAll @IntRange(min = 1, max = 40) int capacity) {
    CommunicatorIds ids = new CommunicatorIds(capacity, random.nextInt());
    Deque<Integer> free = new ArrayDeque<>(IntStream.rangeClosed(1, capacity).boxed().toList());
    List<Integer> live = new ArrayList<>();
    for (int step = 0; step < 2000; step++) {
      assertEquals(free.size(), ids.available());
      if (random.nextBoolean()) {
        int id = ids.take();
        if (free.isEmpty()) {
          assertEquals(CommunicatorIds.NONE, id);
        } else {
          assertEquals(free.remove(), id);
          live.add(id);
          assertTrue(isCurrent(ids, id, ids.generation(id)));
        }
      } else if (!live.isEmpty()) {
        int id = draw(random, live);
        int generation = ids.generation(id);
        ids.free(id);
        free.add(id);
        assertFalse(isCurrent(ids, id, generation));
        assertThrows(IllegalStateException.class, () -> ids.free(id));
      }
    }
  }

  @Example
  void generationsDifferForAsLongAsTheyCanAndAreNever0() {
    CommunicatorIds ids = new CommunicatorIds(3, 65_000);
    Set<Integer> seen = new HashSet<>();
    for (int use = 0; use < 4 * 65_535; use++) {
      if (use % 65_535 == 0) {
        seen.clear();
      }
      int id = ids.take();
      int generation = ids.generation(id);
      assertTrue(generation >= 1 && generation <= 65_535);
      assertTrue(seen.add(generation), "generation given out again after " + seen.size());
      assertFalse(isCurrent(ids, id, generation - 1));
      ids.free(id);
      assertFalse(isCurrent(ids, id, generation));
    }
  }

  @Example
  void whatIsNotInUseIsRefusedAndWhatTheWireSaysIsNot() {
    CommunicatorIds ids = new CommunicatorIds(32_767, 0);
    assertEquals(32_767, ids.available());
    assertThrows(IllegalStateException.class, () -> ids.generation(1));
    assertThrows(IllegalStateException.class, () -> ids.free(32_768));
    assertThrows(IllegalStateException.class, () -> ids.free(0));
    for (int id :
        new int[] {-1, 0, 1, 63, 64, 32_767, 32_768, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      assertFalse(isCurrent(ids, id, 1));
      assertFalse(isCurrent(ids, id, 0));
    }
    assertThrows(IllegalArgumentException.class, () -> new CommunicatorIds(32_768, 0));
    assertThrows(IllegalArgumentException.class, () -> new CommunicatorIds(0, 0));
  }

  @Example
  void allCanBeInUseAtOnce() {
    CommunicatorIds ids = new CommunicatorIds(32_767, 0);
    for (int id = 1; id <= 32_767; id++) {
      assertEquals(id, ids.take());
    }
    assertEquals(CommunicatorIds.NONE, ids.take());
    for (int id = 32_767; id >= 1; id--) {
      ids.free(id);
    }
    assertEquals(32_767, ids.available());
    assertEquals(32_767, ids.take());
  }

  @Example
  void newOnesAreTakenOnlyWhileTheUsedOnesHaveNotRested() {
    CommunicatorIds ids = new CommunicatorIds(32_767, 0);
    for (int use = 0; use < 100_000; use++) {
      int id = ids.take();
      assertEquals(use % 4095 + 1, id);
      ids.free(id);
    }
  }

  private static int draw(Random random, List<Integer> ids) {
    int index = random.nextInt(ids.size());
    int id = ids.get(index);
    ids.set(index, ids.getLast());
    ids.removeLast();
    return id;
  }

  private static boolean isCurrent(CommunicatorIds ids, int id, int generation) {
    try {
      return ids.generation(id) == generation;
    } catch (IllegalStateException notInUse) {
      return false;
    }
  }
}
