package org.jofi.collectives;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jofi.collectives.schedule.Operation;
import org.jofi.ranks.RankLostException;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/**
 * A rank's waits for others, none of them without a bound. While nothing happens, it looks whether
 * a rank is lost; and when nothing has happened for a while, whether another one does something
 * else. For one thread. Allocates nothing as long as something happens.
 */
final class Waiting {
  /**
   * The clock is read once in so many polls that find nothing, since that costs more than a poll.
   */
  private static final int POLLS_PER_LOOK = 64;

  /**
   * Polls in a row before others are let run, if there is a processor for each rank: a system call
   * takes longer than most polls of shared memory.
   */
  private static final int SPINS = 1_000;

  /** A virtual thread that only yields would keep those that were woken from running. */
  private static final int YIELDS = 256;

  /** After so long, this rank says what it waits in; later in ever longer steps. */
  private static final long FIRST_TELL_NANOS = 200_000_000;

  private static final long LONGEST_STEP_NANOS = 4_000_000_000L;

  /** How long the store may take to say what another rank waits in. */
  private static final Duration ANSWER = Duration.ofMillis(50);

  /** How long it is waited for the news which rank it was, when a connection broke. */
  private static final long REASON_NANOS = 500_000_000;

  /** No wait has so many polls that they could not be counted. */
  private static final int MOST_POLLS = 1 << 30;

  private final Members members;
  private final long timeoutNanos;
  private final int spins;
  private final History history = new History();
  private int polls;
  private boolean idle;
  private long since;
  private long looked;
  private long nextTell;
  private long step;
  private int asked;

  Waiting(Members members, Duration timeout) {
    this.members = members;
    timeoutNanos = timeout.toNanos();
    spins = members.size() <= Runtime.getRuntime().availableProcessors() ? SPINS : 0;
  }

  /** An operation begins, or what it needs; all ranks begin in the same order. */
  void begin(String words, Operation operation) {
    history.begin(words, operation);
    progressed();
  }

  /** A poll found something. */
  void progressed() {
    polls = 0;
    idle = false;
  }

  /**
   * A poll found nothing.
   *
   * @throws RankLostException if a rank is lost
   * @throws MismatchException if another rank does something else
   * @throws TransportException {@link FailureCause#TIMED_OUT} if nothing has happened for too long,
   *     {@link FailureCause#INTERRUPTED}
   */
  void idle() {
    polls = polls == MOST_POLLS ? MOST_POLLS / 2 : polls + 1;
    if (polls % POLLS_PER_LOOK == 0) {
      look();
    }
    if (polls < spins) {
      Thread.onSpinWait();
    } else if (polls % YIELDS == 0 && Thread.currentThread().isVirtual()) {
      LockSupport.parkNanos(1);
    } else {
      Thread.yield();
    }
  }

  /** As {@link #idle}, after a poll that took long by itself. */
  void idleLong() {
    polls = 0;
    look();
  }

  private void look() {
    long now = System.nanoTime();
    if (!idle) {
      idle = true;
      looked = now;
      since = now;
      step = FIRST_TELL_NANOS;
      nextTell = now + step;
    }
    long unseen = now - looked;
    if (unseen > FIRST_TELL_NANOS) {
      // Nobody asked: the caller did something else.
      since += unseen;
      nextTell += unseen;
    }
    members.ranks().check();
    if (Thread.currentThread().isInterrupted()) {
      throw new TransportException(FailureCause.INTERRUPTED, where() + " was interrupted");
    }
    if (now - nextTell >= 0) {
      members.tell(history.told());
      compareWithNext();
      step = Math.min(2 * step, LONGEST_STEP_NANOS);
      nextTell = System.nanoTime() + step;
    }
    if (now - since > timeoutNanos) {
      throw new TransportException(
          FailureCause.TIMED_OUT,
          "%s: nothing happened for %.1f s".formatted(where(), timeoutNanos / 1e9));
    }
    looked = System.nanoTime();
  }

  private String where() {
    return "%s in %s".formatted(members.name(members.rank()), history.last());
  }

  /** Asks one rank at a time, since the answer may take a while if it has not said anything. */
  private void compareWithNext() {
    for (int tried = 0; tried < members.size(); tried++) {
      asked = (asked + 1) % members.size();
      if (asked != members.rank()) {
        compareWith(asked, ANSWER);
        return;
      }
    }
  }

  private void compareWith(int other, Duration timeout) {
    String told = members.told(other, timeout);
    if (told == null) {
      return;
    }
    String different = history.difference(told, members.rank(), other, members::name);
    if (different != null) {
      members.tell(history.told());
      throw new MismatchException(different);
    }
  }

  /**
   * The exception for a failure of the transport: that a rank is lost, or does something else, if
   * that is why; otherwise the failure itself. It waits a while to know, since a connection may
   * break before the news comes.
   */
  RuntimeException reason(TransportException failure, String doing) {
    try {
      members.tell(history.told());
      long end = System.nanoTime() + REASON_NANOS;
      while (System.nanoTime() - end < 0) {
        members.ranks().check();
        for (int other = 0; other < members.size() && System.nanoTime() - end < 0; other++) {
          if (other != members.rank()) {
            compareWith(other, Duration.ofMillis(10));
          }
        }
        LockSupport.parkNanos(1_000_000);
      }
    } catch (RankLostException | MismatchException known) {
      known.addSuppressed(failure);
      return known;
    } catch (RuntimeException unreachable) {
      failure.addSuppressed(unreachable);
    }
    return new TransportException(
        failure.failure().cause(),
        "%s, %s: %s".formatted(where(), doing, failure.getMessage()),
        failure);
  }
}
