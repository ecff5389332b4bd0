package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jofi.rdma.nic.RefusedPeers;
import org.junit.jupiter.api.Test;

/** How often something is offered for a peer for whom a provider takes nothing. */
class RefusedPeersTest {
  private static final long POLL_NS = 1_000;
  private static final long SECOND_NS = 1_000_000_000;

  private long now = SECOND_NS;
  private final RefusedPeers refused = new RefusedPeers(() -> now);

  /** Polls for so long; how often something was offered for the peer, and refused. */
  private int offers(long peer, long nanos) {
    int offers = 0;
    for (long end = now + nanos; now < end; now += POLL_NS) {
      refused.polled();
      if (!refused.contains(peer)) {
        refused.refused(peer);
        offers++;
      }
    }
    return offers;
  }

  @Test
  void onceInEachPollAtFirst() {
    assertEquals(50, offers(7, 50 * POLL_NS));
    assertTrue(refused.contains(7), "until the next poll");
    assertFalse(refused.contains(8));
    refused.polled();
    assertFalse(refused.contains(7));
  }

  @Test
  void seldomForOneThatIsGone() {
    int offers = offers(7, SECOND_NS);
    assertTrue(offers < 1_300, () -> offers + " in a second");
    assertTrue(offers > 900, () -> offers + " in a second");
  }

  /** What a wait costs is an eighth of what was waited before, and at most a millisecond. */
  @Test
  void oneThatTakesAgainWaitsNotMuchLonger() {
    for (long waited : new long[] {100_000, 1_000_000, 100_000_000}) {
      refused.clear();
      offers(7, waited);
      long start = now;
      while (refused.contains(7)) {
        now += POLL_NS;
        refused.polled();
      }
      long lost = now - start;
      assertTrue(lost <= Math.min(waited / 8, 1_000_000) + POLL_NS, () -> waited + ": " + lost);
    }
  }

  @Test
  void oneThatTookSomethingIsAsAnyOther() {
    offers(7, SECOND_NS);
    refused.taken(7);
    assertEquals(50, offers(7, 50 * POLL_NS));
  }

  @Test
  void anyNumberIsOfferedSomething() {
    for (int round = 0; round < 1_000; round++) {
      refused.polled();
      now += POLL_NS;
      for (long peer = 0; peer < 100; peer++) {
        if (!refused.contains(peer)) {
          refused.refused(peer);
        }
      }
    }
    now += 2_000_000;
    refused.polled();
    for (long peer = 0; peer < 100; peer++) {
      assertFalse(refused.contains(peer));
      refused.taken(peer);
    }
  }

  @Test
  void oneThatIsNotAskedForAgainIsForgotten() {
    offers(7, SECOND_NS);
    for (int poll = 0; poll < 1 << 17; poll++) {
      refused.polled();
    }
    assertEquals(50, offers(7, 50 * POLL_NS));
  }
}
