package org.jofi.rdma.driver;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;
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
 * <p>A rail that is silent for the bound, or for eight times as long as it should take if that is
 * longer, is given nothing new until something comes back over it, or until nothing is out on it
 * any more: what failed went over another rail, and only something new can tell how this one is.
 * One rail is always used.
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

  private static final Logger LOG = System.getLogger("org.jofi.rdma.rails");

  private final IntFunction<String> labels;
  private final long boundNs;
  private final long[] ages;

  /** Until when time counts in them, or does not. */
  private final long[] counted;

  private final @Nullable Failure[] silence;
  private int silent;
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
    useAgain(rail, "answers again");
  }

  private void useAgain(int rail, String why) {
    if ((silent & 1 << rail) != 0) {
      silent &= ~(1 << rail);
      silence[rail] = null;
      LOG.log(Level.WARNING, "{0} {1}", labels.apply(rail), why);
    }
  }

  /** A message of the peer arrived. */
  void heard() {
    heard = true;
  }

  /** Those of some rails that are not silent; all of them if all are. */
  int without(int among) {
    int others = among & ~silent;
    return others == 0 ? among : others;
  }

  /** Why a rail counts as silent; empty if it does not. */
  Optional<Failure> silence(int rail) {
    return Optional.ofNullable(silence[rail]);
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
   */
  void look(Load load, long now) {
    boolean alive = heard || answered != 0;
    boolean busy = false;
    for (int rail = 0; rail < ages.length; rail++) {
      int bit = 1 << rail;
      boolean idle = load.out(rail) == 0;
      if (idle) {
        useAgain(rail, "has nothing out any more, and is tried again");
      }
      if (idle || (answered & bit) != 0) {
        ages[rail] = 0;
        counted[rail] = now;
      } else if (alive) {
        ages[rail] += Math.min(now - counted[rail], boundNs / CREDIT);
        counted[rail] = now;
        suspect(rail, load);
      }
      busy |= !idle && (silent & bit) == 0;
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
  }

  private void suspect(int rail, Load load) {
    long expected = (long) (PATIENCE * load.expectedNs(rail));
    long patience = Math.clamp(expected, boundNs, MOST_BOUNDS * boundNs);
    int with = silent | 1 << rail;
    if (ages[rail] < patience || with == silent || with == (1 << ages.length) - 1) {
      return;
    }
    silent = with;
    Failure why =
        new Failure(
            FailureCause.TIMED_OUT,
            0,
            labels.apply(rail),
            "silent for %d ms with %d bytes out, while the peer is heard over others"
                .formatted(ages[rail] / 1_000_000, load.out(rail)));
    silence[rail] = why;
    LOG.log(
        Level.WARNING,
        "{0}: {1}; nothing more is given to it until it answers, and what it has waits for it",
        why.where(),
        why.detail());
  }
}
