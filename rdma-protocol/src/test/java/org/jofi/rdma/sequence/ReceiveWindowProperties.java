package org.jofi.rdma.sequence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

class ReceiveWindowProperties {

  /** Against a model, over at least four wraps of the 10 bits. */
  @Property(tries = 10)
  void itIsASetOfAtMost256WithinAnInterval(@ForAll Random random) {
    ReceiveWindow<String> window = new ReceiveWindow<>();
    List<Long> inFlight = new ArrayList<>();
    Set<Integer> slots = new HashSet<>();
    int full = 0;
    while (window.next() < 5 * 1024) {
      long oldest = inFlight.stream().mapToLong(n -> n).min().orElse(window.next());
      assertEquals(oldest, window.oldest());
      int count = random.nextInt(1, 9);
      if (random.nextInt(100) < 25) {
        long expected = window.next();
        assertEquals(expected - oldest + count <= 256, window.hasRoom(count));
        if (!window.hasRoom(count)) {
          full++;
          continue;
        }
        assertEquals(expected, window.post("request", count));
        for (long index = expected; index < expected + count; index++) {
          inFlight.add(index);
          assertTrue(slots.add(ReceiveWindow.slot(index)), "slot shared");
        }
      } else if (!inFlight.isEmpty()) {
        long index = inFlight.remove(random.nextInt(inFlight.size()));
        slots.remove(ReceiveWindow.slot(index));
        assertEquals(index, window.indexOf(bits(index)));
        assertTrue(window.complete(index));
        assertFalse(window.complete(index), "completed twice");
        assertEquals(ReceiveWindow.OUTSIDE, window.indexOf(bits(index)));
      }
    }
    assertTrue(full > 0, "never full");
  }

  @Property(tries = 300)
  void bitsFindTheirNumberInAnyWindow(
      @ForAll @LongRange(min = 1, max = Long.MAX_VALUE / 2) long from,
      @ForAll @IntRange(min = 0, max = 1023) int bits) {
    long number = ReceiveWindow.expand(bits, from);
    assertEquals(bits, bits(number));
    assertTrue(number >= from && number < from + 1024);
  }

  @Example
  void whatWasNeverPostedIsNotInFlight() {
    ReceiveWindow<String> window = new ReceiveWindow<>();
    for (int bits = 0; bits < 1024; bits++) {
      assertEquals(ReceiveWindow.OUTSIDE, window.indexOf(bits));
    }
    assertFalse(window.complete(0));
    assertFalse(window.complete(1));
    assertFalse(window.complete(-5));
    assertEquals(1, window.post("request", 1));
    assertFalse(window.complete(2));
    assertEquals(1, window.indexOf(1));
    assertEquals(ReceiveWindow.OUTSIDE, window.indexOf(2));
  }

  private static int bits(long index) {
    return (int) (index % 1024);
  }
}
