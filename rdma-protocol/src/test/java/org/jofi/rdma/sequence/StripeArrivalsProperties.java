package org.jofi.rdma.sequence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jofi.rdma.wire.ImmediateData;

class StripeArrivalsProperties {

  private static int immediate(int stripe, int last, boolean isShort) {
    return ImmediateData.of(stripe, stripe == last, isShort, 1, 1);
  }

  @Property
  void inAnyOrderAndWithDuplicatesItIsCompleteWithTheLastNewStripe(
      @ForAll Random random,
      @ForAll @IntRange(min = 0, max = 31) int last,
      @ForAll boolean isShort) {
    List<Integer> order = new ArrayList<>();
    IntStream.rangeClosed(0, last).forEach(order::add);
    for (int i = random.nextInt(8); i > 0; i--) {
      order.add(random.nextInt(last + 1));
    }
    Collections.shuffle(order, random);
    long arrivals = StripeArrivals.NONE;
    int seen = 0;
    for (int stripe : order) {
      assertEquals(Integer.bitCount(seen) == last + 1, StripeArrivals.isComplete(arrivals));
      long after = StripeArrivals.add(arrivals, immediate(stripe, last, isShort));
      if ((seen & 1 << stripe) != 0) {
        assertEquals(StripeArrivals.DUPLICATE, after);
      } else {
        assertTrue(after > 0);
        arrivals = after;
        seen |= 1 << stripe;
      }
      for (int other = 0; other <= last; other++) {
        assertEquals((seen & 1 << other) != 0, StripeArrivals.has(arrivals, other));
      }
    }
    assertTrue(StripeArrivals.isComplete(arrivals));
    assertEquals(isShort, StripeArrivals.isShort(arrivals));
  }

  @Example
  void stripesThatContradictEachOtherAreAConflict() {
    long first = StripeArrivals.add(StripeArrivals.NONE, immediate(0, 3, false));
    assertEquals(StripeArrivals.CONFLICT, StripeArrivals.add(first, immediate(1, 3, true)));
    assertEquals(StripeArrivals.CONFLICT, StripeArrivals.add(first, immediate(0, 0, false)));
    assertFalse(StripeArrivals.isComplete(first));
    assertFalse(StripeArrivals.isComplete(StripeArrivals.NONE));
    long ended = StripeArrivals.add(first, immediate(3, 3, false));
    for (int stripe = 1; stripe < 31; stripe++) {
      int other = immediate(stripe, stripe == 3 ? 4 : stripe, false);
      assertEquals(StripeArrivals.CONFLICT, StripeArrivals.add(ended, other), "final " + stripe);
    }
    assertEquals(StripeArrivals.CONFLICT, StripeArrivals.add(ended, immediate(4, 9, false)));
    long open = StripeArrivals.add(first, immediate(7, 9, false));
    assertEquals(StripeArrivals.CONFLICT, StripeArrivals.add(open, immediate(6, 6, false)));
    assertTrue(StripeArrivals.add(open, immediate(8, 8, false)) > 0);
  }

  @Example
  void whatIsMissingIsKnownAsFarAsTheHighest() {
    long arrivals = StripeArrivals.add(StripeArrivals.NONE, immediate(2, 9, false));
    assertEquals(4, StripeArrivals.expected(arrivals));
    assertEquals(0b1011, StripeArrivals.missing(arrivals));
    arrivals = StripeArrivals.add(arrivals, immediate(31, 31, false));
    assertEquals(32, StripeArrivals.expected(arrivals));
    assertEquals(0x7ffffffb, StripeArrivals.missing(arrivals));
    assertTrue(StripeArrivals.has(arrivals, 31));
  }
}
