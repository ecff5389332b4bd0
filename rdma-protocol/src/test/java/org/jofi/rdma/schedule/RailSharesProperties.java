package org.jofi.rdma.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jofi.allocation.Allocation;
import org.jofi.rdma.wire.ProtocolLimits;

class RailSharesProperties {
  private static final long GIGABIT = 1_000_000_000;

  private static RailRates rates(long... speeds) {
    return new RailRates(speeds);
  }

  private static long[] speeds(Random random, int rails) {
    return random.longs(rails, GIGABIT / 10, 100 * GIGABIT).toArray();
  }

  private static long size(Random random) {
    return random.nextLong(ProtocolLimits.MAX_MESSAGE_BYTES >>> random.nextInt(41)) + 1;
  }

  private static long sum(RailShares shares, int rails) {
    long sum = 0;
    for (int rail = 0; rail < rails; rail++) {
      sum += shares.of(rail);
    }
    return sum;
  }

  @Property
  void everyByteIsInOneShareOfAUsableRail(
      @ForAll Random random, @ForAll @IntRange(min = 1, max = 8) int rails) {
    RailRates rates = rates(speeds(random, rails));
    RailShares shares = new RailShares(rates);
    for (int message = 0; message < 100; message++) {
      long bytes = size(random);
      int most = 1 + random.nextInt(rails);
      int usable = 1 + random.nextInt((1 << rails) - 1);
      shares.cut(bytes, most, usable);
      int count = 0;
      int last = 0;
      for (int rail = 0; rail < rails; rail++) {
        if (shares.of(rail) > 0) {
          assertTrue((usable & 1 << rail) != 0, "over a rail that is out of use");
          count++;
          last = rail;
        }
      }
      assertTrue(count >= 1 && count <= most);
      for (int rail = 0; rail < last; rail++) {
        assertEquals(0, shares.of(rail) % RailShares.ALIGNMENT_BYTES);
      }
      assertEquals(bytes, sum(shares, rails));
      int rail = random.nextInt(rails);
      rates.give(rail, shares.of(rail), 0);
    }
  }

  /** As far as each gets enough to be worth it. */
  @Property(tries = 200)
  void theyEndTogetherWithWhatIsOutAlready(
      @ForAll Random random, @ForAll @IntRange(min = 2, max = 8) int rails) {
    long[] speeds = random.longs(rails, GIGABIT, 4 * GIGABIT).toArray();
    RailRates rates = rates(speeds);
    for (int rail = 0; rail < rails; rail++) {
      rates.give(rail, 1 + random.nextLong(1 << 20), 0);
    }
    RailShares shares = new RailShares(rates);
    shares.cut(64 << 20, rails, (1 << rails) - 1);
    boolean equal =
        Arrays.stream(speeds).min().orElseThrow()
            > 0.92 * Arrays.stream(speeds).max().orElseThrow();
    double mean = Arrays.stream(speeds).average().orElseThrow();
    double[] ends = new double[rails];
    Arrays.setAll(
        ends, rail -> (shares.of(rail) + rates.out(rail)) / (equal ? mean : (double) speeds[rail]));
    double first = Arrays.stream(ends).min().orElseThrow();
    double last = Arrays.stream(ends).max().orElseThrow();
    assertTrue(last - first < 1e-3 * last, () -> Arrays.toString(ends));
  }

  @Property(tries = 100)
  void equalRailsTakeEqualMessagesInTurn(@ForAll @IntRange(min = 1, max = 8) int rails) {
    RailShares shares = new RailShares(rates(new long[rails]));
    int seen = 0;
    for (int message = 0; message < 5 * rails; message++) {
      shares.cut(8, 1, (1 << rails) - 1);
      int taken = 0;
      while (shares.of(taken) == 0) {
        taken++;
      }
      assertEquals(0, seen & 1 << taken, "not its turn");
      seen |= 1 << taken;
      seen = seen == (1 << rails) - 1 ? 0 : seen;
    }
  }

  @Property(tries = 100)
  void sharesOfEqualRailsDifferByLittle(
      @ForAll @IntRange(min = 1, max = 8) int rails, @ForAll Random random) {
    RailShares shares = new RailShares(rates(new long[rails]));
    long bytes = random.nextLong(1 << 20, 1L << 40);
    shares.cut(bytes, rails, (1 << rails) - 1);
    for (int rail = 0; rail < rails; rail++) {
      assertEquals(
          (double) bytes / rails, (double) shares.of(rail), 8.0 * RailShares.ALIGNMENT_BYTES);
    }
  }

  @Example
  void aRailThatWouldGetTooLittleGetsNothing() {
    RailShares shares = new RailShares(rates(GIGABIT, GIGABIT, GIGABIT / 100));
    shares.cut(1 << 20, 3, 7);
    assertEquals(0, shares.of(2));
    shares.cut(64 << 20, 3, 7);
    assertTrue(shares.of(2) >= RailRates.LEAST_STRIPE_BYTES);
  }

  @Example
  void aStripeOfNothingTellsNothingOfARate() {
    RailRates rates = rates(new long[1]);
    double before = rates.rate(0);
    rates.give(0, 0, 10);
    rates.give(0, 0, 10);
    rates.arrived(0, 0, true, 20);
    rates.arrived(0, 0, true, 30);
    assertEquals(before, rates.rate(0));
    assertTrue(rates.haveRoom(1, false));
  }

  /** What a link takes at once, before it is shaped, says little of what it takes for long. */
  @Example
  void whatWasLearnedFromLittleIsReliedOnForLittle() {
    RailRates rates = rates(new long[1]);
    long once = RailRates.LEAST_STRIPE_BYTES;
    rates.give(0, once, 0);
    rates.arrived(0, once, false, 1_000);
    assertTrue(rates.limit(0) <= 16 * once && rates.limit(0) >= once, "at once: " + rates.limit(0));
    long more = rates.limit(0);
    rates.give(0, more, 2_000);
    rates.arrived(0, more, false, 2_000 + 8 * more);
    assertTrue(rates.rate(0) < 10, "bytes in a nanosecond: " + rates.rate(0));
    assertTrue(rates.limit(0) > more);
  }

  @Example
  void badArgumentsAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> rates());
    assertThrows(IllegalArgumentException.class, () -> rates(new long[9]));
  }

  @Example
  void cuttingAllocatesNothing() {
    RailRates rates = rates(GIGABIT, 2 * GIGABIT, 4 * GIGABIT, 8 * GIGABIT);
    RailShares shares = new RailShares(rates);
    Allocation.assertNone(
        () -> {
          for (int message = 1; message < 10_000; message++) {
            shares.cut(message * 4096L, 4, 15);
            rates.give(0, shares.of(0), message);
            rates.arrived(0, shares.of(0), false, message + 1);
          }
        });
  }
}
