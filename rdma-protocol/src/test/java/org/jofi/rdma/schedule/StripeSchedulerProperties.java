package org.jofi.rdma.schedule;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.jofi.allocation.Allocation;
import org.jofi.rdma.wire.ProtocolLimits;

class StripeSchedulerProperties {
  private static final long MIN = 128 * 1024;

  private final StripePlan plan = new StripePlan();

  private static int[] equal(int rails) {
    int[] weights = new int[rails];
    Arrays.fill(weights, 1);
    return weights;
  }

  private static int[] unequal(Random random, int rails) {
    return random.ints(rails, 1, StripeScheduler.MAX_WEIGHT + 1).toArray();
  }

  private static long size(Random random) {
    return random.nextLong(ProtocolLimits.MAX_MESSAGE_BYTES >>> random.nextInt(41)) + 1;
  }

  @Property
  void everyByteIsCoveredOnceOnRailsOfItsOwn(
      @ForAll Random random,
      @ForAll @IntRange(min = 1, max = 8) int rails,
      @ForAll @LongRange(min = 1, max = 1 << 20) long minStripe) {
    StripeScheduler scheduler =
        new StripeScheduler(
            random.nextBoolean() ? equal(rails) : unequal(random, rails), minStripe);
    for (int message = 0; message < 100; message++) {
      long length = message % 10 == 0 ? 0 : size(random);
      int stripes = scheduler.schedule(length, plan);
      assertEquals(stripes, plan.stripes());
      assertTrue(stripes >= 1 && stripes <= rails);
      assertTrue(stripes <= Math.max(1, (length + minStripe - 1) / minStripe));
      long end = 0;
      int seen = 0;
      for (int stripe = 0; stripe < stripes; stripe++) {
        assertEquals(end, plan.offset(stripe));
        assertEquals(0, plan.offset(stripe) % StripeScheduler.ALIGNMENT_BYTES);
        assertTrue(plan.length(stripe) > 0 || length == 0);
        assertEquals(0, seen & 1 << plan.rail(stripe), "a rail twice");
        seen |= 1 << plan.rail(stripe);
        end += plan.length(stripe);
      }
      assertEquals(length, end);
    }
  }

  @Property(tries = 200)
  void railsCarryInProportionToTheirSpeed(
      @ForAll Random random, @ForAll @IntRange(min = 2, max = 8) int rails) {
    int[] weights = random.nextBoolean() ? equal(rails) : random.ints(rails, 1, 17).toArray();
    StripeScheduler scheduler = new StripeScheduler(weights, MIN);
    long least = random.nextBoolean() ? 0 : 2 << 20;
    long[] units = new long[rails];
    for (int message = 0; message < 2000; message++) {
      scheduler.schedule(random.nextLong(least, 4 << 20), plan);
      for (int stripe = 0; stripe < plan.stripes(); stripe++) {
        units[plan.rail(stripe)] += Math.max(1, (plan.length(stripe) + 127) / 128);
      }
    }
    // Two rails are never further apart, in time, than the longest message on the slowest.
    double slowest = Arrays.stream(weights).min().orElseThrow();
    double bound = (4 << 20) / 128 / slowest;
    double[] load = new double[rails];
    Arrays.setAll(load, rail -> units[rail] / (double) weights[rail]);
    double spread =
        Arrays.stream(load).max().orElseThrow() - Arrays.stream(load).min().orElseThrow();
    assertTrue(spread <= bound, () -> spread + " of " + Arrays.toString(load) + ", " + bound);
  }

  @Example
  void roundingEvensOut() {
    StripeScheduler scheduler = new StripeScheduler(equal(3), MIN);
    long[] units = new long[3];
    for (int message = 0; message < 30_000; message++) {
      scheduler.schedule(10_000 * StripeScheduler.ALIGNMENT_BYTES, plan);
      for (int stripe = 0; stripe < plan.stripes(); stripe++) {
        units[plan.rail(stripe)] += plan.length(stripe) / StripeScheduler.ALIGNMENT_BYTES;
      }
    }
    long spread =
        Arrays.stream(units).max().orElseThrow() - Arrays.stream(units).min().orElseThrow();
    assertTrue(spread <= 4, () -> Arrays.toString(units));
  }

  @Property(tries = 100)
  void equalRailsTakeEqualMessagesInTurn(@ForAll @IntRange(min = 1, max = 8) int rails) {
    StripeScheduler scheduler = new StripeScheduler(equal(rails), MIN);
    for (int message = 0; message < 5 * rails; message++) {
      scheduler.schedule(8, plan);
      assertEquals(message % rails, plan.rail(0));
    }
  }

  @Property(tries = 100)
  void stripesOfEqualRailsDifferByOneUnitAtMost(
      @ForAll @IntRange(min = 1, max = 8) int rails,
      @ForAll @LongRange(min = 1 << 20, max = 1L << 40) long length) {
    StripeScheduler scheduler = new StripeScheduler(equal(rails), MIN);
    assertEquals(rails, scheduler.schedule(length, plan));
    long least = Long.MAX_VALUE;
    long most = 0;
    for (int stripe = 0; stripe < rails; stripe++) {
      least = Math.min(least, plan.length(stripe));
      most = Math.max(most, plan.length(stripe));
    }
    assertTrue(most - least <= 2 * StripeScheduler.ALIGNMENT_BYTES, least + " to " + most);
  }

  @Property(tries = 100)
  void controlMessagesDoNotMoveData(@ForAll Random random) {
    StripeScheduler quiet = new StripeScheduler(equal(4), MIN);
    StripeScheduler busy = new StripeScheduler(equal(4), MIN);
    ControlRotation control = new ControlRotation(4);
    StripePlan other = new StripePlan();
    for (int message = 0; message < 50; message++) {
      for (int i = random.nextInt(5); i > 0; i--) {
        control.next();
      }
      long length = size(random);
      quiet.schedule(length, plan);
      busy.schedule(length, other);
      assertEquals(plan.stripes(), other.stripes());
      for (int stripe = 0; stripe < plan.stripes(); stripe++) {
        assertEquals(plan.rail(stripe), other.rail(stripe));
      }
    }
  }

  @Property(tries = 200)
  void excludedRailsAreLeftOutAndDoNotCatchUp(
      @ForAll Random random, @ForAll @IntRange(min = 2, max = 8) int rails) {
    StripeScheduler scheduler = new StripeScheduler(unequal(random, rails), MIN);
    int dead = random.nextInt(rails);
    scheduler.exclude(dead);
    scheduler.exclude(dead);
    assertEquals(rails - 1, scheduler.usableRails());
    for (int message = 0; message < 100; message++) {
      scheduler.schedule(random.nextLong(8 << 20), plan);
      for (int stripe = 0; stripe < plan.stripes(); stripe++) {
        assertTrue(plan.rail(stripe) != dead);
      }
    }
    scheduler.restore(dead);
    scheduler.restore(dead);
    assertEquals(rails, scheduler.usableRails());
    assertTrue(scheduler.isUsable(dead));
    int inARow = 0;
    int most = 0;
    for (int message = 0; message < 50; message++) {
      scheduler.schedule(8, plan);
      inARow = plan.rail(0) == dead ? inARow + 1 : 0;
      most = Math.max(most, inARow);
    }
    assertTrue(most < 50, "the restored rail took every message");
  }

  @Example
  void aRestoredRailOfEqualOnesTakesNoMoreThanItsTurn() {
    StripeScheduler scheduler = new StripeScheduler(equal(2), MIN);
    scheduler.exclude(1);
    for (int message = 0; message < 1000; message++) {
      scheduler.schedule(8, plan);
    }
    scheduler.restore(1);
    int restored = 0;
    for (int message = 0; message < 10; message++) {
      scheduler.schedule(8, plan);
      restored += plan.rail(0);
    }
    assertEquals(5, restored);
  }

  @Example
  void withNoRailLeftNothingIsPlanned() {
    StripeScheduler scheduler = new StripeScheduler(equal(2), MIN);
    scheduler.exclude(0);
    scheduler.exclude(1);
    assertEquals(0, scheduler.schedule(1 << 20, plan));
    assertEquals(0, plan.stripes());
    assertThrows(IndexOutOfBoundsException.class, () -> plan.moveTo(0, 1));
    scheduler.restore(1);
    assertEquals(1, scheduler.schedule(1 << 20, plan));
    assertEquals(1, plan.rail(0));
    plan.moveTo(0, 0);
    assertEquals(0, plan.rail(0));
  }

  @Example
  void stripesBeginAtTheBoundaries() {
    StripeScheduler scheduler = new StripeScheduler(equal(4), MIN);
    assertEquals(1, scheduler.schedule(MIN, plan));
    assertEquals(2, scheduler.schedule(MIN + 1, plan));
    assertEquals(4, scheduler.schedule(4 * MIN, plan));
    assertEquals(MIN, plan.length(3));
  }

  @Example
  void speedsBecomeWeights() {
    assertArrayEquals(new int[] {16, 16}, StripeScheduler.weightsOf(new long[] {100, 100}));
    assertArrayEquals(new int[] {16, 32}, StripeScheduler.weightsOf(new long[] {100, 200}));
    assertArrayEquals(new int[] {16, 64, 16}, StripeScheduler.weightsOf(new long[] {0, 400, 100}));
    assertArrayEquals(new int[] {16, 16}, StripeScheduler.weightsOf(new long[] {0, 0}));
    assertArrayEquals(
        new int[] {1, 1024}, StripeScheduler.weightsOf(new long[] {1, Long.MAX_VALUE}));
  }

  @Example
  void badArgumentsAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> new StripeScheduler(new int[0], MIN));
    assertThrows(IllegalArgumentException.class, () -> new StripeScheduler(new int[9], MIN));
    assertThrows(IllegalArgumentException.class, () -> new StripeScheduler(new int[] {0}, MIN));
    assertThrows(IllegalArgumentException.class, () -> new StripeScheduler(equal(1), 0));
    assertThrows(IllegalArgumentException.class, () -> new ControlRotation(0));
  }

  @Example
  void controlGoesRoundTheRailsInUse() {
    ControlRotation control = new ControlRotation(3);
    control.exclude(1);
    int[] turns = new int[4];
    Arrays.setAll(turns, _ -> control.next());
    assertArrayEquals(new int[] {0, 2, 0, 2}, turns);
    control.exclude(0);
    control.exclude(2);
    assertEquals(-1, control.next());
    control.restore(1);
    assertEquals(1, control.next());
  }

  @Example
  void schedulingAllocatesNothing() {
    StripeScheduler scheduler = new StripeScheduler(new int[] {1, 2, 4, 8}, MIN);
    Allocation.assertNone(
        () -> {
          for (int message = 0; message < 10_000; message++) {
            scheduler.schedule(message * 4096L, plan);
          }
        });
  }
}
