package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jofi.rdma.nic.Refusals;
import org.junit.jupiter.api.Test;

/** How often something is offered for a peer for whom a provider takes nothing. */
class RefusalsTest {
  private static final long POLL_NS = 1_000;
  private static final long SECOND_NS = 1_000_000_000;

  private long now = SECOND_NS;
  private int polls;
  private final Refusals refusals = new Refusals();

  private boolean isForbidden() {
    return refusals.forbids(polls, () -> now);
  }

  /** Polls for so long; how often something was offered for the peer, and refused. */
  private int offers(long nanos) {
    int offers = 0;
    for (long end = now + nanos; now < end; now += POLL_NS) {
      polls++;
      if (!isForbidden()) {
        refusals.refused(polls, () -> now);
        offers++;
      }
    }
    return offers;
  }

  @Test
  void onceInEachPollAtFirst() {
    assertFalse(isForbidden());
    assertEquals(50, offers(50 * POLL_NS));
    assertTrue(isForbidden(), "until the next poll");
    polls++;
    assertFalse(isForbidden());
  }

  @Test
  void seldomForOneThatIsGone() {
    int offers = offers(SECOND_NS);
    assertTrue(offers < 1_300, () -> offers + " in a second");
    assertTrue(offers > 900, () -> offers + " in a second");
  }

  /** What a wait costs is an eighth of what was waited before, and at most a millisecond. */
  @Test
  void oneThatTakesAgainWaitsNotMuchLonger() {
    for (long waited : new long[] {100_000, 1_000_000, 100_000_000}) {
      refusals.taken();
      offers(waited);
      long start = now;
      while (isForbidden()) {
        now += POLL_NS;
        polls++;
      }
      long lost = now - start;
      assertTrue(lost <= Math.min(waited / 8, 1_000_000) + POLL_NS, () -> waited + ": " + lost);
    }
  }

  @Test
  void oneThatTookSomethingIsAsAnyOther() {
    offers(SECOND_NS);
    refusals.taken();
    assertEquals(50, offers(50 * POLL_NS));
  }

  @Test
  void oneThatIsNotAskedForAgainIsForgotten() {
    offers(SECOND_NS);
    polls += 1 << 17;
    now += 1_000_000;
    assertEquals(50, offers(50 * POLL_NS));
  }
}
