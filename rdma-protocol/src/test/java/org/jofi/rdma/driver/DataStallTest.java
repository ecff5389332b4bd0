package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.jofi.fabric.LinkTraffic;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link DataStall}, on a time and a traffic of the tests. */
class DataStallTest {
  private static final long BOUND = 10_000_000_000L;
  private static final long STEP = 50_000_000;

  private long now;
  private long sent;
  private long received;
  private boolean known = true;
  private DataStall stall = stall(false);

  private DataStall stall(boolean reads) {
    return new DataStall(
        reads,
        "peer 7",
        () -> known ? Optional.of(new LinkTraffic(sent, received, 0, 0)) : Optional.empty(),
        () -> "eth0 from a to b");
  }

  /** What is found within that time; null if nothing is. */
  private Failure within(long time, Runnable meanwhile) {
    for (long end = now + time; now < end; now += STEP) {
      Failure why = stall.look(now, BOUND);
      if (why != null) {
        return why;
      }
      meanwhile.run();
    }
    return null;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void dataThatDoesNotMoveIsFoundWithinTheBound(boolean isRead) {
    stall = stall(isRead);
    assertNull(within(20 * BOUND, () -> {}), "nothing is out");
    stall.took();
    assertNull(within(BOUND - 2 * STEP, () -> {}), "too early");
    Failure why = within(3 * STEP, () -> {});
    assertNotNull(why);
    assertEquals(FailureCause.PEER_LOST, why.cause());
    assertTrue(
        why.detail().contains(isRead ? "1 reads" : "1 writes")
            && why.detail().contains("eth0 from a to b"),
        why.detail());
    assertNotNull(within(BOUND, () -> {}), "it stands until something moves");
    stall.back(true);
    assertNull(within(20 * BOUND, () -> {}), "it is back");
  }

  /** Its connections look one after the other, so that the second one finds what the first did. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPeerThatIsMetLateHasTheWholeBound(boolean isRead) {
    stall = stall(isRead);
    now = 20 * BOUND;
    stall.took();
    assertNull(within(BOUND - 2 * STEP, () -> stall.look(now, BOUND)), "too early");
    assertNotNull(within(3 * STEP, () -> {}));
  }

  /** A stripe of 4 MiB over a slow link. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatIsSlowIsNotTakenForIt(boolean isRead) {
    stall = stall(isRead);
    stall.took();
    Runnable moves =
        () -> {
          sent += isRead ? 0 : 1024;
          received += isRead ? 1024 : 0;
        };
    assertNull(within(20 * BOUND, moves));
    assertNotNull(within(2 * BOUND, () -> {}), "and it is when it stops");
  }

  /** What comes from the peer says nothing of what goes to it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theOtherDirectionDoesNotCount(boolean isRead) {
    stall = stall(isRead);
    stall.took();
    assertNotNull(
        within(
            2 * BOUND,
            () -> {
              sent += isRead ? 100_000 : 0;
              received += isRead ? 0 : 1024;
            }));
  }

  @Test
  void oneThatComesBackCounts() {
    stall.took();
    assertNull(
        within(
            20 * BOUND,
            () -> {
              stall.took();
              stall.back(true);
            }));
  }

  /** Rails that die and come back, over which short messages pass. */
  @Test
  void oneThatIsPostedAgainAndAgainDoesNot() {
    int[] looks = {0};
    stall.took();
    Runnable again =
        () -> {
          switch (++looks[0] % 30) {
            case 0 -> stall.back(false);
            case 1 -> {
              stall.took();
              sent = 500;
            }
            default -> sent++;
          }
        };
    looks[0] = 1;
    assertNotNull(within(2 * BOUND, again));
  }

  @Test
  void oneThatCameToNothingForGoodIsForgotten() {
    stall.took();
    stall.back(false);
    assertNull(within(20 * BOUND, () -> {}));
  }

  @Test
  void whereNothingIsKnownNobodyIsGivenUp() {
    known = false;
    stall.took();
    assertNull(within(20 * BOUND, () -> {}));
  }
}
