package org.jofi.rdma.engine;

import java.util.Objects;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A request of a {@link RequestQueue}: how many operations it has under way, the lease of the
 * memory that they use, and how it ends. What it does is its {@link RequestStrategy}'s. The object
 * is used again for the next request of its slot.
 *
 * <pre>
 *            complete, or failed: its operations are back
 * RUNNING -------------------------------------------------&gt; REPORTED -- lease ended --&gt; (free)
 *    |                                                          ^
 *    | its bound, the peer's death                              | its operations are back,
 *    +-----------------------------------------&gt; REPORTED, ----+  nobody can reach its memory
 *                                                lease kept
 * </pre>
 *
 * <p>The time limit is for a time without progress: it starts again whenever {@link
 * RequestStrategy#progress} changes, so that a request does not time out only because many others
 * are queued before it.
 *
 * <p>A failure is reported when the request's operations have completed, so that the caller may
 * reuse the memory, but after the time limit at the latest.
 */
final class Request {
  private final RequestQueue queue;
  private final int slot;
  private @Nullable RequestStrategy strategy;
  private @Nullable Failure failure;
  private int underWay;
  private boolean running;
  private boolean reported;
  private boolean quiet;
  private boolean leaseEnded;
  private boolean timed;
  private long since;
  private long seen;

  Request(RequestQueue queue, int slot) {
    this.queue = queue;
    this.slot = slot;
  }

  /** Starts it with this strategy; a queued request goes on with it. */
  void begin(RequestStrategy with) {
    strategy = with;
    failure = null;
    underWay = 0;
    reported = false;
    quiet = false;
    leaseEnded = false;
    timed = false;
    if (!running) {
      running = true;
      queue.began();
    }
  }

  /** Takes it back before it started; the caller frees its slot. */
  void withdraw() {
    running = false;
    queue.becameQuiet();
  }

  int slot() {
    return slot;
  }

  /** The way in which it runs, or ran last. */
  RequestStrategy strategy() {
    return Objects.requireNonNull(strategy, "it never began");
  }

  /** Whether it shall still come to something, in that way. */
  boolean isLive(RequestStrategy how) {
    return running && failure == null && how.equals(strategy);
  }

  @Nullable Failure failure() {
    return failure;
  }

  /** So many operations are under way from now on: with the driver, or a copy. */
  void begun(int operations) {
    underWay += operations;
  }

  /** So many operations are back. */
  void returned(int operations) {
    underWay -= operations;
  }

  /** The time of its bound starts again. */
  void restartBound() {
    timed = false;
  }

  /**
   * Fails it: that is reported once its operations are back, or at its bound. What outlived its
   * queue, since the peer closed, fails with the queue's cause.
   */
  void fail(Failure why) {
    Failure ofAll = queue.failure();
    cut(ofAll == null ? why : ofAll);
    settle();
  }

  private void cut(Failure why) {
    if (running && failure == null) {
      failure = why;
      strategy().cut();
    }
  }

  /** Fails it, and reports that now. Its lease is kept until its operations are back. */
  void expire(Failure why) {
    if (!running || reported) {
      return;
    }
    cut(why);
    // What was cut may have ended it.
    if (!reported) {
      report();
    }
    settle();
  }

  /** Lets go of its memory, come what may: the endpoint is gone. */
  void abandon(Failure why) {
    cut(why);
    underWay = 0;
    expire(why);
    settle();
  }

  /**
   * Fails it if its bound passed. Time is counted from the first check that finds it timed, or
   * finds progress.
   *
   * @param now any clock, the same in each call
   */
  void check(long now, long boundNs) {
    if (!running || reported || (failure == null && !strategy().isTimed())) {
      return;
    }
    long progress = strategy().progress();
    boolean first = !timed;
    if (first || (failure == null && progress != seen)) {
      timed = true;
      since = now;
      seen = progress;
    }
    if (now - since >= boundNs) {
      expire(RequestQueue.timedOut(strategy().where(), strategy().missing(), boundNs));
    } else if (failure == null && !first) {
      strategy().checked();
    }
  }

  /** Whether the peer may write into its memory. */
  boolean isExposed() {
    return running && !leaseEnded && strategy().isExposed();
  }

  /** Ends what can be ended. */
  void settle() {
    if (!running) {
      return;
    }
    RequestStrategy how = strategy();
    if (!reported && underWay == 0 && (failure != null || how.isComplete())) {
      report();
    }
    if (!reported) {
      return;
    }
    if (!leaseEnded
        && (underWay == 0 || !how.operatesOnLease())
        && (failure == null || !how.isExposed())) {
      leaseEnded = true;
      how.endUse();
      queue.table().freeMemory(slot);
    }
    if (underWay > 0) {
      return;
    }
    if (!quiet) {
      quiet = true;
      queue.becameQuiet();
    }
    if (leaseEnded) {
      running = false;
      queue.table().release(slot);
    }
  }

  private void report() {
    reported = true;
    queue.table().keep(slot);
    queue.over(this, failure);
  }
}
