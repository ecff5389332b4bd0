package org.jofi.rdma.driver;

import java.util.Arrays;
import java.util.Optional;
import java.util.function.IntFunction;
import org.jofi.fabric.LinkTraffic;

/**
 * Finds rails that lose packets, from how many their provider had to send again. Over one that
 * does, several tries to send the same packet may be lost in a row, though the rail works: with
 * TCP, which waits twice as long for each, nothing arrives for 3 s after four of them.
 *
 * <p>Packets that were lost a moment ago say little of a rail: one that died loses what was out on
 * it. So it takes some, and a share of all since they were last counted that no congestion reaches.
 * What is sent again later counts only where some of it arrived, which nothing does over a dead
 * rail: one that begins to lose packets may lose all that it had queued, and sends nothing again
 * for 200 ms.
 */
final class PacketLoss {
  /** A rail that just died has sent fewer again. */
  private static final int LEAST = 8;

  /** One of how many is lost at least. With 1 %, four in a row are a matter of days. */
  private static final int ONE_OF = 50;

  /**
   * After so many without loss, what follows is counted anew: a loss that begins shows among that
   * many more at the latest, however much the rail carried before.
   */
  private static final int ENOUGH = 2_000;

  /** To count takes some calls of the kernel for each socket of this process. */
  private static final long EVERY_NS = 500_000_000L;

  private static final long MEMORY_NS = 60_000_000_000L;

  private final IntFunction<Optional<LinkTraffic>> traffic;
  private final LinkTraffic[] counted;

  /** Until when each is taken to lose packets. */
  private final long[] until;

  /** From when on each may be counted again. */
  private final long[] next;

  /** What each had moved when it was looked at. */
  private final long[] moved;

  PacketLoss(int rails, IntFunction<Optional<LinkTraffic>> traffic) {
    this.traffic = traffic;
    counted = new LinkTraffic[rails];
    Arrays.fill(counted, LinkTraffic.NONE);
    until = new long[rails];
    next = new long[rails];
    moved = new long[rails];
  }

  /** Counts what was lost on a rail, unless that was done within the last half second. */
  void look(int rail, long now) {
    if (now >= next[rail]) {
      next[rail] = now + EVERY_NS;
      traffic.apply(rail).ifPresent(since -> look(rail, since, now));
    }
  }

  /** Counts again, a good while later, if the rail moved something since. */
  void lookAgain(int rail, long now) {
    traffic
        .apply(rail)
        .filter(since -> since.movedBytes() > moved[rail])
        .ifPresent(since -> look(rail, since, now));
  }

  private void look(int rail, LinkTraffic traffic, long now) {
    moved[rail] = traffic.movedBytes();
    LinkTraffic before = counted[rail];
    if (traffic.packets() < before.packets() || traffic.repeated() < before.repeated()) {
      before = LinkTraffic.NONE;
    }
    long packets = traffic.packets() - before.packets();
    long repeated = traffic.repeated() - before.repeated();
    boolean lossy = repeated >= LEAST && repeated * ONE_OF >= packets;
    if (lossy) {
      until[rail] = now + MEMORY_NS;
    }
    counted[rail] = lossy || packets >= ENOUGH ? traffic : before;
  }

  /** Whether a rail lost packets lately, at a time in nanoseconds, from 0. */
  boolean isLossy(int rail, long now) {
    return now < until[rail];
  }
}
