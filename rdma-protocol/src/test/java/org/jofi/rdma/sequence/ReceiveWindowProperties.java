package org.jofi.rdma.sequence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
  @Property(tries = 50)
  void itIsASetOfAtMost128WithinAnInterval(@ForAll Random random) {
    ReceiveWindow window = new ReceiveWindow();
    List<Long> inFlight = new ArrayList<>();
    Set<Integer> slots = new HashSet<>();
    int full = 0;
    while (window.next() < 5 * 1024) {
      long oldest = inFlight.stream().mapToLong(n -> n).min().orElse(window.next());
      assertEquals(oldest, window.oldest());
      if (random.nextInt(100) < 55) {
        long expected = window.next();
        long number = window.post();
        if (expected - oldest == 128) {
          assertEquals(ReceiveWindow.FULL, number);
          full++;
        } else {
          assertEquals(expected, number);
          inFlight.add(number);
          assertTrue(slots.add(ReceiveWindow.slot(number)), "slot shared");
        }
      } else if (!inFlight.isEmpty()) {
        long number = inFlight.remove(random.nextInt(inFlight.size()));
        slots.remove(ReceiveWindow.slot(number));
        assertEquals(number, window.inFlight(SequenceNumbers.bits(number)));
        assertTrue(window.complete(number));
        assertFalse(window.complete(number), "completed twice");
        assertEquals(SequenceNumbers.OUTSIDE, window.inFlight(SequenceNumbers.bits(number)));
      }
    }
    assertTrue(full > 0, "never full");
  }

  @Property
  void bitsFindTheirNumberInAnyWindow(
      @ForAll @LongRange(min = 1, max = Long.MAX_VALUE / 2) long from,
      @ForAll @IntRange(min = 1, max = 1023) int width,
      @ForAll @IntRange(min = 0, max = 1023) int bits) {
    long number = SequenceNumbers.expand(bits, from, from + width);
    if (number == SequenceNumbers.OUTSIDE) {
      for (long candidate = from; candidate < from + width; candidate++) {
        assertTrue(SequenceNumbers.bits(candidate) != bits);
      }
    } else {
      assertEquals(bits, SequenceNumbers.bits(number));
      assertTrue(number >= from && number < from + width);
    }
  }

  @Example
  void whatWasNeverPostedIsNotInFlight() {
    ReceiveWindow window = new ReceiveWindow();
    for (int bits = 0; bits < 1024; bits++) {
      assertEquals(SequenceNumbers.OUTSIDE, window.inFlight(bits));
    }
    assertFalse(window.complete(0));
    assertFalse(window.complete(1));
    assertFalse(window.complete(-5));
    assertEquals(1, window.post());
    assertFalse(window.complete(2));
    assertEquals(1, window.inFlight(1));
    assertEquals(SequenceNumbers.OUTSIDE, window.inFlight(2));
  }

  @Example
  void aReceiveThatCouldNotBePostedGivesItsNumberBack() {
    ReceiveWindow window = new ReceiveWindow();
    assertThrows(IllegalStateException.class, () -> window.unpost(0));
    long first = window.post();
    long second = window.post();
    assertThrows(IllegalStateException.class, () -> window.unpost(first));
    window.unpost(second);
    assertEquals(second, window.post());
    window.complete(second);
    assertThrows(IllegalStateException.class, () -> window.unpost(second));
  }
}
