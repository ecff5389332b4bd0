package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jofi.cli.soak.MachineCommand;
import org.jofi.cli.soak.RailNetwork;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code jofi perf} over four real TCP rails between two network namespaces, of which one or more
 * fail in the middle of messages: every byte is right, and nobody but the log notices. And rails
 * that are only bad: nobody gives them up.
 */
@Timeout(300)
@Isolated("it measures")
class RailFaultsTest {
  private static final int RAILS = 4;
  private static final int SENDER = 0;
  private static final int RECEIVER = 1;

  /** Not the one over which they meet. */
  private static final int RAIL = 2;

  /** How long nothing may arrive, in ms: a silent rail is found after 1.5 s. */
  private static final long LONGEST_PAUSE = 2500;

  private static final String FOUND = "silent for";

  @TempDir private Path folder;

  @BeforeAll
  static void needsNamespaces() {
    String obstacle = RailNetwork.obstacle();
    assumeTrue(obstacle.isEmpty(), obstacle);
  }

  /**
   * Its endpoint closes, and then the provider says that reads over it failed. The same amid sends
   * is a test of the plugin's.
   */
  @Test
  @Tag("alone")
  void aRailThatIsCutAmidReadsIsSurvived() throws Exception {
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder)) {
      perf.start(220, "--op", "read");
      perf.awaitMidRun(RAIL);
      perf.network().cut(RECEIVER, RAIL);
      isSurvived(perf);
    }
  }

  /** What is lost in both directions is part of the tests of rails that come back. */
  enum End {
    CUT_AT_THE_SENDER,
    LOST_FROM_THE_SENDER,
    LOST_FROM_THE_RECEIVER
  }

  @ParameterizedTest
  @EnumSource
  @Tag("long")
  @Tag("alone")
  void aRailThatDiesIsSurvived(End how) throws Exception {
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder)) {
      perf.start(220);
      perf.awaitMidRun(RAIL);
      switch (how) {
        case CUT_AT_THE_SENDER -> perf.network().cut(SENDER, RAIL);
        case LOST_FROM_THE_SENDER -> perf.network().swallow(SENDER, RAIL);
        case LOST_FROM_THE_RECEIVER -> perf.network().swallow(RECEIVER, RAIL);
      }
      isSurvived(perf);
    }
  }

  private static void isSurvived(PerfOverRails perf) throws Exception {
    isSurvived(perf, RAILS - 1);
    String why = perf.row(SENDER).get("railsDownBecause").getAsString();
    assertTrue(why.contains("data rail " + RAIL) && why.contains(FOUND), why);
  }

  /**
   * Nobody but the log notices.
   *
   * @param up how many rails are left
   */
  private static void isSurvived(PerfOverRails perf, int up) throws Exception {
    long pause = perf.longestPause(0);
    double gigabits = perf.measured();
    System.out.printf(
        "longest pause %d ms, %.2f Gbit/s in all:%n%s%n", pause, gigabits, perf.errors());
    assertTrue(perf.errors().contains("; %d of 4 data rails are up".formatted(up)), perf.errors());
    assertEquals(up, perf.row(SENDER).get("railsUp").getAsInt(), perf.row(SENDER).toString());
    assertTrue(pause < LONGEST_PAUSE, "ms: " + pause);
  }

  /**
   * It is used again when its link is. What was lost in between may come late: TCP sends it again
   * after 6 s and 13, and the rail is tried again after 8.
   */
  @ParameterizedTest
  @CsvSource({"300, 350", "8000, 1000"})
  @Tag("long")
  @Tag("alone")
  void aRailThatComesBackIsUsedAgain(long millis, int messages) throws Exception {
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder)) {
      perf.start(messages);
      perf.awaitMidRun(RAIL);
      perf.swallow(RAIL);
      perf.run(millis);
      perf.mend(RAIL);
      long carried = perf.carried(RAIL);
      long pause = perf.longestPause(0);
      double gigabits = perf.measured();
      System.out.printf(
          "longest pause %d ms, %.2f Gbit/s in all:%n%s%n", pause, gigabits, perf.errors());
      assertTrue(pause < LONGEST_PAUSE, "ms: " + pause);
      assertTrue(perf.carried(RAIL) - carried > PerfOverRails.IN_MID_RUN, "it carries nothing");
      if (millis > 2000) {
        assertTrue(perf.errors().contains("is used again; 4 of 4 data rails"), perf.errors());
      }
    }
  }

  @Test
  @Tag("long")
  void aRailThatComesAndGoesIsSurvived() throws Exception {
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder)) {
      perf.start(700);
      perf.awaitMidRun(RAIL);
      for (int time = 0; time < 3; time++) {
        perf.network().cut(RECEIVER, RAIL);
        perf.run(2000);
        perf.network().mend(RECEIVER, RAIL);
        perf.run(2000);
      }
      double gigabits = perf.measured();
      System.out.printf("%.2f Gbit/s in all:%n%s%n", gigabits, perf.errors());
      long found = perf.errors().lines().filter(line -> line.contains(FOUND)).count();
      assertTrue(found > 0, perf.errors());
    }
  }

  /** All but one, in the same moment. */
  @ParameterizedTest
  @ValueSource(strings = {"send", "write"})
  @Tag("long")
  @Tag("alone")
  void threeThatDieAtOnceAreSurvived(String operation) throws Exception {
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder)) {
      perf.start(200, "--op", operation);
      perf.awaitMidRun(RAIL);
      for (int rail = 1; rail < RAILS; rail++) {
        perf.swallow(rail);
      }
      isSurvived(perf, 1);
    }
  }

  /** The last one's end is the peer's. */
  @Test
  @Tag("long")
  void railsDieOneAfterAnother() throws Exception {
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder)) {
      perf.start(4000, "--timeout", "60");
      perf.awaitMidRun(0);
      for (int rail = 0; rail < RAILS - 1; rail++) {
        perf.network().cut(RECEIVER, rail);
        perf.awaitWords("; %d of 4 data rails are up".formatted(RAILS - 1 - rail));
        perf.run(500);
      }
      perf.network().cut(RECEIVER, RAILS - 1);
      long since = System.nanoTime();
      for (int rank : new int[] {SENDER, RECEIVER}) {
        assertTrue(perf.process(rank).waitFor(60, TimeUnit.SECONDS), "it hangs");
        assertEquals(1, perf.process(rank).exitValue(), perf.errors());
      }
      System.out.printf(
          "over %.1f s after the last one:%n%s%n",
          (System.nanoTime() - since) / 1e9, perf.errors());
      assertTrue(perf.errors().contains("peer lost"), perf.errors());
    }
  }

  private static void needsLoss() {
    String obstacle = RailNetwork.obstacleToLoss();
    assumeTrue(obstacle.isEmpty(), obstacle);
  }

  /** A larger loss is part of the next one. */
  @Test
  @Tag("long")
  void lossIsNoDeath() throws Exception {
    needsLoss();
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder)) {
      perf.lose(RAIL, 1);
      isNotGivenUp(perf, 250);
    }
  }

  /** TCP waits for 3 s then, twice as long as another rail may be silent. */
  @Test
  @Tag("long")
  void packetsThatAreLostFourTimesInARowAreNoDeath() throws Exception {
    needsLoss();
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder)) {
      perf.start(700);
      perf.awaitMidRun(RAIL);
      perf.lose(RAIL, 5);
      perf.run(5000);
      perf.swallow(RAIL);
      perf.run(2000);
      perf.mend(RAIL);
      nobodyGivesUp(perf);
    }
  }

  /** A rail of a tenth is a test of unequal rails. */
  @Test
  @Tag("long")
  void slownessIsNoDeath() throws Exception {
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder)) {
      perf.slow(RAIL, 1000);
      isNotGivenUp(perf, 250);
    }
  }

  /** What was out on it needs a second or two. */
  @Test
  @Tag("long")
  void becomingSlowIsNoDeath() throws Exception {
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder)) {
      perf.start(220);
      perf.awaitMidRun(RAIL);
      perf.slow(RAIL, 100);
      nobodyGivesUp(perf);
    }
  }

  @Test
  @Tag("long")
  void aLongWayIsNoDeath() throws Exception {
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder);
        DelayedRail delayed = new DelayedRail(perf.network(), RECEIVER, RAIL, 50)) {
      isNotGivenUp(perf, 200);
      assertTrue(delayed.carried() > 100, "it carries nothing");
    }
  }

  /**
   * First the sender, as one that collects garbage for 5 s; and then the receiver, as one in a
   * debugger for 12, which is no lost peer where the bound on its silence is longer.
   */
  @Test
  @Tag("long")
  void aProcessThatStandsStillIsNoDeadRail() throws Exception {
    try (PerfOverRails perf = new PerfOverRails(RAILS, folder)) {
      perf.start(500, "--peer-timeout", "30");
      perf.awaitMidRun(RAIL);
      for (int rank : new int[] {SENDER, RECEIVER}) {
        long pid = perf.process(rank).pid();
        MachineCommand.run("kill -STOP " + pid);
        perf.run(rank == SENDER ? 5000 : 12_000);
        MachineCommand.run("kill -CONT " + pid);
        perf.run(1500);
      }
      nobodyGivesUp(perf);
    }
  }

  private static void isNotGivenUp(PerfOverRails perf, int messages) throws Exception {
    perf.start(messages);
    nobodyGivesUp(perf);
  }

  private static void nobodyGivesUp(PerfOverRails perf) throws Exception {
    double gigabits = perf.measured();
    System.out.printf("%.2f Gbit/s in all:%n%s%n", gigabits, perf.errors());
    assertFalse(perf.errors().contains("rails are up"), perf.errors());
    assertEquals(RAILS, perf.row(SENDER).get("railsUp").getAsInt(), perf.row(SENDER).toString());
  }
}
