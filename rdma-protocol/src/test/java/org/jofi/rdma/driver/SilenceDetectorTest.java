package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jofi.fabric.LinkTraffic;
import org.jofi.transport.Failure;
import org.junit.jupiter.api.Test;

class SilenceDetectorTest {
  private static final int RAILS = 4;
  private static final long MILLI = 1_000_000;
  private static final long BOUND = 1_500 * MILLI;
  private static final long STEP = 47 * MILLI;

  private final long[] out = new long[RAILS];
  private final double[] expected = new double[RAILS];
  private final long[] moved = new long[RAILS];
  private final Failure[] causes = new Failure[RAILS];
  private final long[] packets = new long[RAILS];
  private final long[] repeated = new long[RAILS];
  private final SilenceDetector.Load load =
      new SilenceDetector.Load() {
        @Override
        public String label(int rail) {
          return "rail " + rail;
        }

        @Override
        public long out(int rail) {
          return out[rail];
        }

        @Override
        public double expectedNs(int rail) {
          return expected[rail];
        }

        @Override
        public long moved(int rail) {
          return moved[rail];
        }

        @Override
        public void silent(int rail, Failure why) {
          causes[rail] = why;
        }
      };
  private final SilenceDetector clock =
      new SilenceDetector(
          RAILS, BOUND, new PacketLoss(RAILS, rail -> Optional.of(traffic(rail))), load);
  private long now;

  /** What was found, and is not used any more. */
  private int silent;

  private LinkTraffic traffic(int rail) {
    return new LinkTraffic(moved[rail], 0, packets[rail], repeated[rail]);
  }

  private void look() {
    now += STEP;
    silent |= clock.look(~silent & (1 << RAILS) - 1, now);
  }

  /** How long until a rail is silent, while others complete something at each look. */
  private long untilSilent(int rail) {
    long start = now;
    while ((silent & 1 << rail) == 0) {
      assertTrue(now - start < 100 * BOUND, "it is never found");
      othersAnswer(rail);
      look();
    }
    return now - start;
  }

  private void othersAnswer(int rail) {
    for (int other = 0; other < RAILS; other++) {
      if (other != rail) {
        clock.answered(other);
      }
    }
  }

  @Test
  void aRailThatSaysNothingIsFoundWithinTheBound() {
    Arrays.fill(out, 1);
    long took = untilSilent(2);
    assertTrue(took >= BOUND && took <= BOUND + 2 * STEP, "ms: " + took / MILLI);
    assertEquals(1 << 2, silent);
    String why = causes[2].toString();
    assertTrue(why.startsWith("rail 2: ") && why.contains("with 1 bytes out"), why);
  }

  /** One chunk takes longer than the bound, but it will be through. */
  @Test
  void aRailThatMovesBytesIsNotSilent() {
    Arrays.fill(out, 1);
    out[2] = 300_000;
    long end = now + 3 * BOUND;
    while (now < end) {
      moved[2] += 12_000;
      othersAnswer(2);
      look();
    }
    assertEquals(0, silent);
    long took = untilSilent(2);
    assertTrue(took >= BOUND / 2 && took <= 2 * BOUND, "ms: " + took / MILLI);
  }

  /** What is out would take far too long. */
  @Test
  void aRailThatHardlyMovesIsGivenUp() {
    Arrays.fill(out, 1);
    out[2] = 10_000_000;
    long start = now;
    while (silent == 0) {
      moved[2] += 6_000;
      othersAnswer(2);
      look();
    }
    assertEquals(1 << 2, silent);
    assertTrue(now - start <= 2 * BOUND, "ms: " + (now - start) / MILLI);
    assertTrue(causes[2].detail().startsWith("so slow that it would take 78"));
  }

  /** Four packets in a row are lost now and then, for which TCP waits 3 s. */
  @Test
  void aRailThatLosesPacketsMayBeSilentForLonger() {
    Arrays.fill(out, 1);
    packets[2] = 1000;
    repeated[2] = 50;
    long took = untilSilent(2);
    assertTrue(took >= 4 * BOUND && took <= 4 * BOUND + 2 * STEP, "ms: " + took / MILLI);
  }

  /** Of what was out on it, and of what was lost long ago. */
  @Test
  void aRailThatDiesLosesWhatWasOut() {
    Arrays.fill(out, 1);
    packets[2] = 40;
    repeated[2] = 3;
    assertIsFoundWithinTheBound();
    packets[2] = 1_000_000;
    repeated[2] = 10_000;
    assertIsFoundWithinTheBound();
  }

  private void assertIsFoundWithinTheBound() {
    long took = untilSilent(2);
    assertTrue(took <= BOUND + 2 * STEP, "ms: " + took / MILLI);
    silent = 0;
  }

  /** After much that was not lost; and again not a minute after the last that was. */
  @Test
  void whatIsLostLatelyCounts() {
    Arrays.fill(out, 1);
    packets[2] = 1_000_000;
    assertIsFoundWithinTheBound();
    packets[2] += 1000;
    repeated[2] += 20;
    assertTrue(untilSilent(2) >= 4 * BOUND, "it is found early");
    silent = 0;
    long end = now + 60_000 * MILLI;
    while (now < end) {
      othersAnswer(-1);
      look();
    }
    assertIsFoundWithinTheBound();
  }

  /** A rail that carried much begins to lose packets, and is asked now and then as it lags. */
  @Test
  void aLossThatBeganAMomentAgoCounts() {
    Arrays.fill(out, 1);
    packets[2] = 14_000;
    for (int lag = 0; lag < 4; lag++) {
      packets[2] += 800;
      repeated[2] += 40;
      lag(2);
    }
    assertTrue(untilSilent(2) >= 4 * BOUND, "it is found early");
  }

  /** All that was queued is lost at once, and some of it again. */
  @Test
  void whatIsSentAgainLaterCountsIfSomeOfItArrives() {
    fallSilentAfterMuchTraffic();
    packets[2] += 300;
    repeated[2] += 100;
    moved[2] += 1_000_000;
    assertTrue(untilSilent(2) >= 3 * BOUND, "it is found early");
  }

  private void fallSilentAfterMuchTraffic() {
    Arrays.fill(out, 1);
    packets[2] = 14_000;
    for (int step = 0; step < 6; step++) {
      othersAnswer(2);
      look();
    }
  }

  /** A dead rail sends again, too. */
  @Test
  void whatIsSentAgainForNothingDoesNotCount() {
    fallSilentAfterMuchTraffic();
    packets[2] += 20;
    repeated[2] += 20;
    assertIsFoundWithinTheBound();
  }

  /** It answers after a pause that is no silence yet. */
  private void lag(int rail) {
    for (int step = 0; step < 3; step++) {
      othersAnswer(rail);
      look();
    }
    for (int step = 0; step < 10; step++) {
      othersAnswer(-1);
      look();
    }
  }

  /** Other sockets, which count from 0. */
  @Test
  void aRailThatConnectedAnewIsCountedAnew() {
    Arrays.fill(out, 1);
    packets[2] = 1_000_000;
    repeated[2] = 100;
    assertIsFoundWithinTheBound();
    packets[2] = 200;
    repeated[2] = 10;
    assertTrue(untilSilent(2) >= 4 * BOUND, "it is found early");
  }

  @Test
  void aRailThatIsUsedAgainAgesAnew() {
    Arrays.fill(out, 1);
    untilSilent(2);
    for (int i = 0; i < 100; i++) {
      clock.heard();
      look();
      out[0] = i % 2;
      out[1] = i % 2;
      out[3] = i % 2;
    }
    silent = 0;
    assertTrue(untilSilent(2) >= BOUND, "it was not used meanwhile");
  }

  /** Nothing comes over any rail, and no answer: that is the peer, not its rails. */
  @Test
  void aPeerThatIsStoppedAgesNoRail() {
    Arrays.fill(out, 1);
    int questions = 0;
    for (int i = 0; i < 30_000_000_000L / STEP; i++) {
      look();
      questions += clock.takeQuestion() ? 1 : 0;
    }
    assertEquals(0, silent);
    assertTrue(questions >= 200 && questions <= 240, "questions: " + questions);
    // It goes on: it answers questions, and all its rails in the same round.
    clock.heard();
    for (int rail = 0; rail < RAILS; rail++) {
      clock.answered(rail);
    }
    look();
    assertEquals(0, silent);
  }

  /** All else is done: only the answers to questions show that the peer is there. */
  @Test
  void answersToQuestionsShowThatThePeerIsThere() {
    out[3] = 1;
    long start = now;
    while (silent == 0) {
      assertTrue(now - start < 2 * BOUND, "it is not found");
      look();
      if (clock.takeQuestion()) {
        clock.heard();
      }
    }
    assertEquals(1 << 3, silent);
    for (int i = 0; i < 100; i++) {
      look();
      assertFalse(clock.takeQuestion(), "nothing more is to be found out");
    }
  }

  /** What is done leaves no age behind. */
  @Test
  void aRailThatHasNothingOutIsNotSilent() {
    for (int i = 0; i < 1000; i++) {
      clock.heard();
      look();
      assertFalse(clock.takeQuestion());
    }
    assertEquals(0, silent);
    out[1] = 1;
    clock.heard();
    look();
    assertEquals(0, silent);
    out[1] = 0;
    clock.heard();
    look();
    out[1] = 1;
    assertTrue(untilSilent(1) >= BOUND);
  }

  /** A rail that is slow is given the time that it should take, up to a limit. */
  @Test
  void whatIsLongIsWaitedForLonger() {
    Arrays.fill(out, 1);
    expected[0] = 300 * MILLI;
    long took = untilSilent(0);
    assertTrue(took >= 2_400 * MILLI && took <= 2_400 * MILLI + 2 * STEP, "ns: " + took);
    silent = 0;
    expected[0] = 1e15;
    took = untilSilent(0);
    assertTrue(took >= 4 * BOUND && took <= 4 * BOUND + 2 * STEP, "ns: " + took);
  }

  @Test
  void oneRailIsAlwaysUsed() {
    Arrays.fill(out, 1);
    for (int i = 0; i < 1000; i++) {
      clock.heard();
      look();
    }
    assertEquals(RAILS - 1, Integer.bitCount(silent));
  }

  /** Rails that answer within the bound, each at times of its own, are never taken for silent. */
  @Property(tries = 200)
  void noRailThatAnswersInTimeIsSilent(@ForAll Random random) {
    SilenceDetectorTest each = new SilenceDetectorTest();
    long[] due = new long[RAILS];
    for (int i = 0; i < 2000; i++) {
      for (int rail = 0; rail < RAILS; rail++) {
        if (each.out[rail] == 0 && random.nextInt(4) == 0) {
          each.out[rail] = random.nextLong(1, 1000);
          due[rail] = each.now + random.nextLong(BOUND - 2 * STEP);
        } else if (each.out[rail] > 0 && each.now >= due[rail]) {
          each.out[rail] = 0;
          each.clock.answered(rail);
        }
      }
      if (random.nextBoolean()) {
        each.clock.heard();
      }
      each.look();
      assertEquals(0, each.silent);
    }
  }
}
