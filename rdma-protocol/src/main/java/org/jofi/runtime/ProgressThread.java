package org.jofi.runtime;

import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jofi.rdma.spi.ProgressExecutor;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jofi.transport.diagnostics.Log;

/**
 * A thread that makes progress on one endpoint. It does not use Agrona's AgentRunner, whose close
 * would wait without a time limit if a provider does not return.
 */
final class ProgressThread implements ProgressExecutor {
  private static final Log LOG = new Log(Log.Name.TRANSPORT);

  /** Rounds for which it does not pay before it rests: some milliseconds of polling sockets. */
  private static final int BUSY_ROUNDS = 2_000;

  private static final long REST_NS = 100_000;

  /** Long enough for a thread that was parked to take the lock. */
  private static final long NAP_NS = 20_000;

  /**
   * How often it naps without being asked, and after how many rounds without an event it reads the
   * clock.
   */
  private static final long NAP_EVERY_NS = 20_000_000;

  private static final int LOOK_ROUNDS = 256;

  /**
   * How long it leaves the lock free for threads that announced themselves; limited, since one may
   * be descheduled.
   */
  private static final int POLITE_SPINS = 2_000;

  /**
   * How long other threads wait for the end of a round; a round in which no data is copied ends
   * within this.
   */
  private static final int PATIENT_SPINS = 64;

  private final Rounds rounds;
  private final Runnable between;
  private final long closeNs;
  private final Thread thread;
  private final AtomicInteger announced = new AtomicInteger();
  private volatile boolean asked;
  private volatile boolean stopped;
  // Written by the thread alone.
  private volatile boolean busy;
  private volatile boolean resting;
  // What the last round was; by the thread alone.
  private boolean pays;

  private ProgressThread(String label, Rounds rounds, Runnable between, long closeNs) {
    this.rounds = rounds;
    this.between = between;
    this.closeNs = closeNs;
    thread = Thread.ofPlatform().name("jofi " + label).daemon().unstarted(this::run);
  }

  /** As {@link ProgressExecutor.Starter}. */
  static ProgressThread start(String label, Rounds rounds, Runnable between, long closeNs) {
    ProgressThread started = new ProgressThread(label, rounds, between, closeNs);
    try {
      started.thread.start();
    } catch (OutOfMemoryError none) {
      throw new TransportException(
          FailureCause.EXHAUSTED,
          ("%s has no progress thread: %s. Raise the limit on processes (ulimit -u, the cgroup's"
                  + " pids.max), or go without progress threads")
              .formatted(label, none.getMessage()),
          none);
    }
    return started;
  }

  private void run() {
    int idle = 0;
    int unseen = 0;
    long napped = System.nanoTime();
    try {
      while (!stopped) {
        int events = once();
        between.run();
        if (announced.get() > 0) {
          standBack();
        }
        if (pays) {
          idle = 0;
        } else if (idle >= BUSY_ROUNDS) {
          rest();
        } else {
          idle++;
          if (events == 0) {
            Thread.onSpinWait();
          }
        }
        // A round with events may have been long, and compared to it, reading the clock is cheap.
        boolean looks = events > 0 || ++unseen >= LOOK_ROUNDS;
        unseen = looks ? 0 : unseen;
        if (asked || (looks && System.nanoTime() - napped > NAP_EVERY_NS)) {
          asked = false;
          LockSupport.parkNanos(NAP_NS);
          napped = System.nanoTime();
        }
      }
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, thread.getName() + " ended; callers drive the endpoint from now on", e);
    } finally {
      resting = true;
    }
  }

  private int once() {
    rounds.enter();
    try {
      busy = true;
      int events = rounds.run();
      pays = rounds.pays();
      return events;
    } finally {
      busy = false;
      rounds.leave();
    }
  }

  private void standBack() {
    for (int i = 0; i < POLITE_SPINS && announced.get() > 0; i++) {
      Thread.onSpinWait();
    }
  }

  private void rest() {
    resting = true;
    LockSupport.parkNanos(REST_NS);
    resting = false;
  }

  @Override
  public void ask() {
    asked = true;
  }

  @Override
  public void announce() {
    announced.incrementAndGet();
  }

  @Override
  public void entered() {
    announced.decrementAndGet();
  }

  @Override
  public boolean announceUnlessBusy() {
    announced.incrementAndGet();
    for (int i = 0; i < PATIENT_SPINS; i++) {
      if (!busy) {
        return true;
      }
      Thread.onSpinWait();
    }
    announced.decrementAndGet();
    return false;
  }

  @Override
  public boolean announceWithin(long boundNs) {
    announced.incrementAndGet();
    long start = System.nanoTime();
    while (busy) {
      if (System.nanoTime() - start > boundNs) {
        announced.decrementAndGet();
        return false;
      }
      Thread.yield();
    }
    return true;
  }

  @Override
  public boolean isResting() {
    return resting;
  }

  @Override
  public void close() {
    stopped = true;
    LockSupport.unpark(thread);
    boolean interrupted = false;
    long deadline = System.nanoTime() + closeNs;
    for (long left = closeNs; left > 0 && thread.isAlive(); left = deadline - System.nanoTime()) {
      try {
        TimeUnit.NANOSECONDS.timedJoin(thread, left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      throw new TransportException(
          FailureCause.TIMED_OUT,
          "%s has been in the provider for %d s: the endpoint stays open"
              .formatted(thread.getName(), TimeUnit.NANOSECONDS.toSeconds(closeNs)));
    }
  }
}
