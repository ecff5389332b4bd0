package org.jofi.rdma.driver;

import java.util.function.IntFunction;
import org.jofi.fabric.ProviderTraits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

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
 * take if that is longer. The last usable one never is.
 */
final class RailClock {
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

  private static final int PATIENCE = 8;
  private static final int MOST_BOUNDS = 4;

  private final IntFunction<String> labels;
  private final long boundNs;
  private final long[] ages;

  /** Until when time counts in them, or does not. */
  private final long[] counted;

  private final @Nullable Failure[] silence;
  private int answered;
  private boolean heard;
  private boolean question;
  private long heardAt;
  private long askedAt;

  /** What the clock has to know of what goes over the rails. */
  interface Load {
    /** Bytes that were given to a rail, and are not done. */
    long out(int rail);

    /** How long they should take, in nanoseconds. */
    double expectedNs(int rail);

    /** Whether a rail is used. */
    boolean isUsable(int rail);
  }

  /**
   * @param rails how many
   * @param labels what a rail is called
   * @param boundNs how long a rail may be silent
   */
  RailClock(int rails, IntFunction<String> labels, long boundNs) {
    this.labels = labels;
    this.boundNs = boundNs;
    ages = new long[rails];
    counted = new long[rails];
    silence = new Failure[rails];
  }

  /** How long a rail of that provider may be silent, in nanoseconds. */
  static long boundNs(ProviderTraits traits) {
    return traits.software() ? SOFTWARE_NS : HARDWARE_NS;
  }

  /** Something that was out on a rail came back. */
  void answered(int rail) {
    answered |= 1 << rail;
  }

  /** A message of the peer arrived. */
  void heard() {
    heard = true;
  }

  /** Why a rail was found to be silent. */
  Failure silence(int rail) {
    Failure why = silence[rail];
    if (why == null) {
      throw new IllegalStateException("rail %d was never silent".formatted(rail));
    }
    return why;
  }

  /**
   * Whether the peer is to be asked whether it is there. True once, until the next question is due.
   */
  boolean takeQuestion() {
    boolean due = question;
    question = false;
    return due;
  }

  /**
   * Looks at what is out.
   *
   * @param now time in which this side looked, in nanoseconds
   * @return the rails that were found to be silent, a bit each; they are to be used no more
   */
  int look(Load load, long now) {
    boolean alive = heard || answered != 0;
    boolean busy = false;
    int usable = 0;
    for (int rail = 0; rail < ages.length; rail++) {
      usable |= load.isUsable(rail) ? 1 << rail : 0;
    }
    int found = 0;
    for (int rail = 0; rail < ages.length; rail++) {
      int bit = 1 << rail;
      boolean idle = load.out(rail) == 0 || (usable & bit) == 0;
      if (idle || (answered & bit) != 0) {
        ages[rail] = 0;
        counted[rail] = now;
      } else if (alive) {
        ages[rail] += Math.min(now - counted[rail], boundNs / CREDIT);
        counted[rail] = now;
        if ((usable & ~found & ~bit) != 0 && isSilent(rail, load)) {
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

  private boolean isSilent(int rail, Load load) {
    long expected = (long) (PATIENCE * load.expectedNs(rail));
    if (ages[rail] < Math.clamp(expected, boundNs, MOST_BOUNDS * boundNs)) {
      return false;
    }
    silence[rail] =
        new Failure(
            FailureCause.TIMED_OUT,
            0,
            labels.apply(rail),
            "silent for %d ms with %d bytes out, while the peer is heard over others"
                .formatted(ages[rail] / 1_000_000, load.out(rail)));
    ages[rail] = 0;
    return true;
  }
}
