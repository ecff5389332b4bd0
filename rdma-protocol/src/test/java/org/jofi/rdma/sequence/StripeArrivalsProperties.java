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
    return ImmediateData.of(stripe, last, isShort, 1, 1);
  }

  @Property
  void inAnyOrderAndWithDuplicatesItIsCompleteWithTheLastNewStripe(
      @ForAll Random random,
      @ForAll @IntRange(min = 0, max = 7) int last,
      @ForAll boolean isShort) {
    List<Integer> order = new ArrayList<>();
    IntStream.rangeClosed(0, last).forEach(order::add);
    for (int i = random.nextInt(8); i > 0; i--) {
      order.add(random.nextInt(last + 1));
    }
    Collections.shuffle(order, random);
    int arrivals = StripeArrivals.NONE;
    int seen = 0;
    for (int stripe : order) {
      assertEquals(Integer.bitCount(seen) == last + 1, StripeArrivals.isComplete(arrivals));
      int after = StripeArrivals.add(arrivals, immediate(stripe, last, isShort));
      if ((seen & 1 << stripe) != 0) {
        assertEquals(StripeArrivals.DUPLICATE, after);
      } else {
        assertTrue(after > 0);
        arrivals = after;
        seen |= 1 << stripe;
      }
      assertEquals(Integer.bitCount(seen), StripeArrivals.count(arrivals));
    }
    assertTrue(StripeArrivals.isComplete(arrivals));
    assertEquals(isShort, StripeArrivals.isShort(arrivals));
  }

  @Example
  void stripesThatContradictEachOtherAreAConflict() {
    int arrivals = StripeArrivals.add(StripeArrivals.NONE, immediate(0, 3, false));
    assertEquals(StripeArrivals.CONFLICT, StripeArrivals.add(arrivals, immediate(1, 2, false)));
    assertEquals(StripeArrivals.CONFLICT, StripeArrivals.add(arrivals, immediate(1, 3, true)));
    assertFalse(StripeArrivals.isComplete(arrivals));
    assertFalse(StripeArrivals.isComplete(StripeArrivals.NONE));
  }
}
