package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.junit.jupiter.api.Test;

class HandleTableTest {
  private final HandleTable<String> table = new HandleTable<>("thing", 3, 1000);

  private long add(String value) {
    return table.add(ignored -> value);
  }

  @Test
  void findsWhatItTookUp() {
    long handle = add("a");

    assertSame("a", table.find(handle));
    assertSame("a", table.get(handle));
    assertTrue(table.isKind(handle));
    assertFalse(table.isEmpty());
  }

  @Test
  void aRemovedHandleIsNeverFoundAgain() {
    Set<Long> seen = new HashSet<>();
    for (int use = 0; use < 10_000; use++) {
      long handle = add("x");
      assertTrue(seen.add(handle), "used before");
      assertEquals("x", table.remove(handle));
      assertNull(table.find(handle));
      assertThrows(IllegalArgumentException.class, () -> table.remove(handle));
    }
    assertTrue(table.isEmpty());
    add("y");
    assertTrue(seen.stream().noneMatch(old -> table.find(old) != null));
  }

  @Test
  void noHandleIsWhatMeansSomethingToNccl() {
    for (int use = 0; use < 100; use++) {
      long handle = add("x");
      assertNotEquals(0, handle);
      assertNotEquals(1, handle);
    }
  }

  @Test
  void anothersHandleIsNotFound() {
    HandleTable<String> other = new HandleTable<>("other", 4, 10);
    long handle = other.add(ignored -> "b");
    add("a");

    assertNull(table.find(handle));
    assertFalse(table.isKind(handle));
    for (long nonsense : new long[] {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, 3L << 56}) {
      assertNull(table.find(nonsense));
      assertThrows(IllegalArgumentException.class, () -> table.get(nonsense));
    }
  }

  @Test
  void growsToItsLimitAndThenSaysSo() {
    List<Long> handles = new ArrayList<>();
    for (int slot = 0; slot < 1000; slot++) {
      handles.add(add("v" + slot));
    }
    TransportException full = assertThrows(TransportException.class, () -> add("one more"));

    assertEquals(FailureCause.EXHAUSTED, full.failure().cause());
    for (int slot = 0; slot < 1000; slot++) {
      assertEquals("v" + slot, table.find(handles.get(slot)));
    }
    table.remove(handles.get(500));
    assertEquals("again", table.find(add("again")));
  }

  @Test
  void whatCannotBeMadeTakesNoSlot() {
    for (int attempt = 0; attempt < 2000; attempt++) {
      assertThrows(
          IllegalStateException.class,
          () ->
              table.add(
                  handle -> {
                    throw new IllegalStateException();
                  }));
    }
    assertTrue(table.isEmpty());
    assertEquals("a", table.find(add("a")));
  }
}
