package org.jofi.rdma.driver;

import java.util.Arrays;
import org.jofi.fabric.ProviderTraits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;

/**
 * Finds data rails to one peer that are silent: something is out on them and nothing comes back,
 * though the peer is there. Used with the endpoint's lock held.
 *
 * <p>The age of what is out on a rail grows only by time in which this side looked and the peer was
 * heard elsewhere: another rail completed something, or a message of the peer arrived. So a peer
 * that is stopped ages no rail, and neither does a stop of this side. If nothing is in flight that
 * would show that the peer is there, it is asked over the control rails; a process that answers has
 * polled all its rails before.
 *
 * <p>A rail is silent that does not answer for the bound, or for eight times as long as it should
 * take if that is longer; four times the bound at most, and for one that {@linkplain PacketLoss
 * loses packets} at once. The last usable one never is. Before that it is asked whether bytes were
 * moved over it, if the provider can tell: then the rail is slow, and what is out on it will be
 * through, unless that would take four times the bound: then the others are faster with it.
 */
final class SilenceDetector {
  /** Three lost retransmissions in a row of TCP take 200 + 400 + 800 ms. */
  private static final long SOFTWARE_NS = 1_500_000_000L;

  /** A NIC that retries by itself tells of a peer that it does not reach; that comes first. */
  private static final long HARDWARE_NS = 3_000_000_000L;

  /**
   * How often the peer is asked within the bound. With two rails, one of them silent, every other
   * answer may be lost, and what was heard must count for the time between two that are not.
   */
  private static final int QUESTIONS = 12;

  /** What something that was heard counts for at most, as a part of the bound. */
  private static final int CREDIT = 4;

  /**
   * The parts of the bound between which a rail is asked whether it loses packets. Often, so that
   * what is counted began a moment ago; and early, since of what is sent again later, a rail that
   * died would have its share.
   */
  private static final int ASKS_FOR_LOSS = 32;

  private static final int ASKS_NO_MORE = 8;

  private static final int PATIENCE = 8;
  private static final int MOST_BOUNDS = 4;
  private static final long UNASKED = Long.MIN_VALUE;

  private final long boundNs;
  private final long[] ages;

  /** Until when time counts in them, or does not. */
  private final long[] counted;

  /** What was moved over each when it was asked last; {@link #UNASKED} since it answered. */
  private final long[] moved;

  /** For how long each has been moving bytes without an answer. */
  private final long[] movingNs;

  private final PacketLoss loss;
  private final Load load;
  private int answered;
  private boolean heard;
  private boolean question;
  private long heardAt;
  private long askedAt;

  interface Load {
    /** What errors call a rail. */
    String label(int rail);

    /** Bytes that were given to a rail, and are not done. */
    long out(int rail);

    /** How long they should take, in nanoseconds. */
    double expectedNs(int rail);

    /** Bytes that were moved over a rail until now, in both directions; -1 if unknown. */
    long moved(int rail);

    /** A rail was found to be silent: it is to be used no more. */
    void silent(int rail, Failure why);
  }

  SilenceDetector(int rails, long boundNs, PacketLoss loss, Load load) {
    this.loss = loss;
    this.load = load;
    this.boundNs = boundNs;
    ages = new long[rails];
    counted = new long[rails];
    moved = new long[rails];
    Arrays.fill(moved, UNASKED);
    movingNs = new long[rails];
  }

  /** How long a rail of that provider may be silent, in nanoseconds. */
  static long boundNs(ProviderTraits traits) {
    return traits.software() ? SOFTWARE_NS : HARDWARE_NS;
  }

  void answered(int rail) {
    answered |= 1 << rail;
  }

  void heard() {
    heard = true;
  }

  /** Rails that are half way to being silent, a bit each. */
  int aging() {
    int aging = 0;
    for (int rail = 0; rail < ages.length; rail++) {
      aging |= ages[rail] >= boundNs / 2 ? 1 << rail : 0;
    }
    return aging;
  }

  /** Whether the peer is to be asked whether it is there; true once for each question. */
  boolean takeQuestion() {
    boolean due = question;
    question = false;
    return due;
  }

  /** The rails that were found to be silent, of those that are used, a bit each. */
  int look(int usable, long now) {
    boolean alive = heard || answered != 0;
    boolean busy = false;
    int found = 0;
    for (int rail = 0; rail < ages.length; rail++) {
      int bit = 1 << rail;
      boolean idle = load.out(rail) == 0 || (usable & bit) == 0;
      if (idle || (answered & bit) != 0) {
        young(rail);
        counted[rail] = now;
      } else if (alive) {
        long before = ages[rail];
        ages[rail] += Math.min(now - counted[rail], boundNs / CREDIT);
        counted[rail] = now;
        if (before < boundNs / ASKS_NO_MORE && ages[rail] >= boundNs / ASKS_FOR_LOSS) {
          loss.look(rail, now);
        }
        if ((usable & ~found & ~bit) != 0 && isSilent(rail, now)) {
          found |= bit;
        }
      }
      busy |= !idle;
    }
    if (alive || !busy) {
      heardAt = now;
    }
    heard = false;
    answered = 0;
    long every = boundNs / QUESTIONS;
    if (busy && now - heardAt >= every && now - askedAt >= every) {
      question = true;
      askedAt = now;
    }
    return found;
  }

  private boolean isSilent(int rail, long now) {
    long longest = MOST_BOUNDS * boundNs;
    long expected = (long) (PATIENCE * load.expectedNs(rail));
    long most = loss.isLossy(rail, now) ? longest : Math.clamp(expected, boundNs, longest);
    if (ages[rail] >= most / 2 && moved[rail] == UNASKED) {
      moved[rail] = load.moved(rail);
      loss.lookAgain(rail, now);
    }
    if (ages[rail] < most) {
      return false;
    }
    String how = "silent for %d ms".formatted(ages[rail] / 1_000_000);
    String hint = "; " + DataStall.IF_SHORT_ONES_PASS;
    long before = moved[rail];
    moved[rail] = load.moved(rail);
    if (before >= 0 && moved[rail] > before) {
      long sinceNs = most - most / 2;
      ages[rail] -= sinceNs;
      movingNs[rail] += sinceNs;
      double leftNs = (double) load.out(rail) / (moved[rail] - before) * sinceNs;
      if (movingNs[rail] + leftNs < longest) {
        return false;
      }
      how = "so slow that it would take %.1f s more".formatted(leftNs / 1e9);
      hint = "";
    }
    load.silent(
        rail,
        new Failure(
            FailureCause.TIMED_OUT,
            0,
            load.label(rail),
            "%s with %d bytes out, while the peer is heard over others%s"
                .formatted(how, load.out(rail), hint)));
    young(rail);
    return true;
  }

  private void young(int rail) {
    ages[rail] = 0;
    moved[rail] = UNASKED;
    movingNs[rail] = 0;
  }
}
