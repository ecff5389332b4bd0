package org.jofi.rdma.driver;

import static org.jofi.rdma.driver.ModelRails.GIGABIT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DataFlowTest {
  private static final long LENGTH = 4 << 20;

  private static ModelRails rails(long seed, double... gigabits) {
    return new ModelRails(
        seed, ModelRails.MIN_STRIPE, Arrays.stream(gigabits).map(each -> each * GIGABIT).toArray());
  }

  static Stream<Arguments> rails() {
    return Stream.of(
        Arguments.of(new double[] {1, 1, 1, 1}),
        Arguments.of(new double[] {1, 1, 1, 0.5}),
        Arguments.of(new double[] {1, 1, 1, 0.1}),
        Arguments.of(new double[] {1, 0.8, 0.6, 0.4}),
        Arguments.of(new double[] {1, 1, 1, 1, 1, 1, 1, 0.25}));
  }

  /** With one at a time, what is lost is the round trip. */
  @ParameterizedTest
  @MethodSource("rails")
  void whatRailsCarryIsUsed(double... gigabits) {
    for (int atOnce : new int[] {1, 2, 4}) {
      ModelRails rails = rails(atOnce, gigabits);
      rails.send(50, LENGTH, atOnce);
      double part = rails.send(300, LENGTH, atOnce);
      double transfer = LENGTH / rails.sum();
      double bound = atOnce == 1 ? 0.97 * transfer / (transfer + 450_000) : 0.96;
      assertTrue(part >= bound, "%d at once: %.3f of %.3f".formatted(atOnce, part, bound));
    }
  }

  @ParameterizedTest
  @MethodSource("rails")
  void theFirstMessagesAreNotLostEither(double... gigabits) {
    assertTrue(rails(3, gigabits).send(20, LENGTH, 4) > 0.85);
  }

  /** What a far slower rail had got would take it so long that it seemed to be dead. */
  @Test
  void aRailThatWasNotMeasuredGetsLittle() {
    ModelRails rails = rails(1, 1, 1, 1, 0.001);
    double part = rails.send(20, LENGTH, 4);
    assertTrue(rails.longestWaitNs(3) < 1_200_000_000, "ns: " + rails.longestWaitNs(3));
    assertTrue(part > 0.1, "part: " + part);
  }

  @Test
  void aRateThatChangesIsLearned() {
    ModelRails rails = rails(1, 1, 1, 1, 1);
    rails.send(50, LENGTH, 4);
    rails.rate(2, 0.1 * GIGABIT);
    rails.send(30, LENGTH, 4);
    assertTrue(rails.send(200, LENGTH, 4) > 0.96);
    rails.rate(2, GIGABIT);
    rails.send(50, LENGTH, 4);
    assertTrue(rails.send(200, LENGTH, 4) > 0.96);
  }

  /** One at a time, for which one rail is enough: nothing else was out that would measure rails. */
  @Test
  void theRailThatIsLeftCarriesMessagesOfOneStripe() {
    ModelRails rails = rails(1, 1, 1);
    rails.send(20, ModelRails.MIN_STRIPE, 1);
    rails.lose(1);
    rails.send(20, ModelRails.MIN_STRIPE, 1);
    assertEquals(21, rails.stripes(), "of the first one, a part measures the rail");
    rails.send(20, ModelRails.MIN_STRIPE, 4);
    assertEquals(20, rails.stripes());
  }

  @Test
  void messagesThatAreShorterThanAStripeIsAtLeastGoOn() {
    ModelRails rails = new ModelRails(1, 8 * ModelRails.MIN_STRIPE, GIGABIT, GIGABIT);
    rails.send(20, 4 * ModelRails.MIN_STRIPE, 1);
    rails.send(20, 4 * ModelRails.MIN_STRIPE, 4);
  }

  /** Such a rail gets nothing of a message, and so nobody would see that it is well again. */
  @Test
  void aRailThatHardlyMovedComesBack() {
    ModelRails rails = rails(1, 1, 1, 1, 0.001);
    rails.send(100, LENGTH, 4);
    rails.rate(3, GIGABIT);
    rails.rest(11_000_000_000L);
    rails.send(50, LENGTH, 4);
    assertTrue(rails.send(200, LENGTH, 4) > 0.96);
  }

  @Property(tries = 200)
  void anyRailsAreUsed(@ForAll Random random, @ForAll @IntRange(min = 2, max = 8) int count) {
    double[] gigabits = random.doubles(count, 0.2, 2).toArray();
    ModelRails rails = rails(random.nextLong(), gigabits);
    rails.send(60, LENGTH, 4);
    double part = rails.send(200, LENGTH, 4);
    assertTrue(part > 0.95, () -> part + " of " + Arrays.toString(gigabits));
    rails.send(20, 1 + random.nextLong(64 << 20), 2);
  }

  @Test
  void equalRailsGetOneStripeEach() {
    ModelRails rails = rails(1, 1, 1, 1, 1);
    rails.send(100, LENGTH, 4);
    rails.send(100, LENGTH, 4);
    // A rail that has more out than the others may get none.
    assertTrue(rails.stripes() > 300 && rails.stripes() <= 410, "stripes: " + rails.stripes());
    rails.send(100, 200 << 10, 4);
    assertTrue(rails.stripes() <= 2 * 100, "stripes: " + rails.stripes());
    rails.send(100, 100 << 10, 4);
    assertEquals(100, rails.stripes());
  }

  /** Together they occupy all rails, with fewer operations. */
  @Test
  void messagesThatAreOutTogetherShareTheRails() {
    ModelRails rails = rails(1, 10, 10, 10, 10);
    rails.send(100, LENGTH, 4);
    rails.send(100, 1 << 20, 1);
    assertTrue(rails.stripes() > 380, "alone: " + rails.stripes());
    rails.send(100, 1 << 20, 2);
    assertTrue(rails.stripes() > 180 && rails.stripes() < 230, "two: " + rails.stripes());
    rails.send(100, 1 << 20, 4);
    assertTrue(rails.stripes() < 120, "four: " + rails.stripes());
    rails.send(100, LENGTH, 4);
    assertTrue(rails.stripes() > 300, "long: " + rails.stripes());
    rails.send(100, 1 << 20, 1);
    assertTrue(rails.stripes() > 380, "alone again: " + rails.stripes());
  }

  @ParameterizedTest
  @MethodSource("rails")
  void shortMessagesUseWhatRailsCarry(double... gigabits) {
    ModelRails rails = rails(5, Arrays.stream(gigabits).map(each -> 10 * each).toArray());
    rails.send(500, 1 << 20, 16);
    double part = rails.send(2000, 1 << 20, 16);
    assertTrue(part > 0.95, "1 MiB: " + part);
    rails.send(500, 256 << 10, 32);
    part = rails.send(2000, 256 << 10, 32);
    assertTrue(part > 0.95, "256 KiB: " + part);
  }
}
