package org.jofi.transport;

import java.time.Duration;

/**
 * What a thread does between two polls of which the first found nothing: it trades processor time
 * for latency. A lambda serves as one; so does Agrona's, by a method reference: {@code new
 * BackoffIdleStrategy()::idle}.
 *
 * <p>For one thread, unless it says otherwise. It must return soon, within a few milliseconds: no
 * time limit is looked at meanwhile.
 */
@FunctionalInterface
public interface IdleStrategy {
  /**
   * Called after each poll.
   *
   * @param workCount how much the poll found: with 0 or less this idles; with more it returns at
   *     once, and what backs off begins again
   */
  void idle(int workCount);

  /** Called after a poll that found nothing. */
  default void idle() {
    idle(0);
  }

  /** Called after a poll that found something, and before the first one. */
  default void reset() {
    idle(1);
  }

  /**
   * Polls again at once: the lowest latency, for a whole processor. Any number of threads may use
   * it.
   *
   * @return a strategy that has no state
   */
  static IdleStrategy busySpin() {
    return workCount -> {
      if (workCount <= 0) {
        Thread.onSpinWait();
      }
    };
  }

  /**
   * Lets other threads run that are ready to. With nobody else about it polls almost at once. Any
   * number of threads may use it.
   *
   * @return a strategy that has no state
   */
  static IdleStrategy yielding() {
    return workCount -> {
      if (workCount <= 0) {
        Thread.yield();
      }
    };
  }

  /**
   * Spins 10 times, yields 100 times, and then sleeps from 1 us up to 1 ms, twice as long each
   * time: for waits that may be long. For one thread.
   *
   * @return a new strategy
   */
  static IdleStrategy backoff() {
    return backoff(10, 100, Duration.ofNanos(1_000), Duration.ofMillis(1));
  }

  /**
   * Spins, then yields, then sleeps, twice as long each time. For one thread.
   *
   * @param spins how often it spins, 0 or more
   * @param yields how often it yields after that, 0 or more
   * @param shortest how long it sleeps first, above 0
   * @param longest how long it sleeps at most, no less than that
   * @return a new strategy
   * @throws IllegalArgumentException if one of them is out of its range
   */
  static IdleStrategy backoff(int spins, int yields, Duration shortest, Duration longest) {
    return new Backoff(spins, yields, shortest.toNanos(), longest.toNanos());
  }
}
