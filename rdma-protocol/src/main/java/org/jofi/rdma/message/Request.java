package org.jofi.rdma.message;

import org.jofi.fabric.CompletionError;
import org.jofi.rdma.endpoint.Failures;
import org.jofi.rdma.endpoint.OperationOwner;
import org.jofi.rdma.endpoint.Posting;
import org.jofi.rdma.endpoint.RailPort;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A request of a {@link RequestQueue}: the operations that it posts, the lease of the memory that
 * they use, and how it ends. The object is reused for the next request of its slot.
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
 * <p>The time limit is for a time without progress: it starts again whenever {@link #progress}
 * changes, so that a request does not time out only because many others are queued before it.
 *
 * <p>A failure is reported when the request's operations have completed, so that the caller may
 * reuse the memory, but after the time limit at the latest.
 */
abstract class Request extends Posting implements OperationOwner {
  private final RequestQueue queue;
  private final int slot;
  private @Nullable Failure failure;
  private int inFlight;
  private boolean running;
  private boolean reported;
  private boolean quiet;
  private boolean leaseEnded;
  private boolean posting;
  private boolean timed;
  private long since;
  private long seen;

  Request(RequestQueue queue, int slot) {
    this.queue = queue;
    this.slot = slot;
  }

  /** Posts what is not posted yet; whether nothing is left to post. */
  protected abstract boolean postAll();

  /** Whether all that was asked for happened, once no operation is in flight. */
  protected abstract boolean isComplete();

  /** Whether the time of its bound runs. */
  protected abstract boolean isTimed();

  /** Whether it comes to its end, good or bad, though nothing of it is posted any more. */
  protected abstract boolean endsByItself();

  /** Whether its memory is within the peer's reach, so that its lease must not end. */
  protected abstract boolean isExposed();

  /** Whether its own operations use the leased memory, rather than this side's own. */
  protected boolean operatesOnLease() {
    return true;
  }

  /** How much it moved. */
  protected abstract long movedBytes();

  /** Changes whenever what it waits for comes nearer; not without end while it is stuck. */
  protected long progress() {
    return 0;
  }

  /** It was looked at, and its bound did not pass. */
  protected void checked() {
    // Nothing to do unless something can be tried anew.
  }

  /** Ends the lease of its memory. */
  protected abstract void endUse();

  /** What errors call it. */
  protected abstract String where();

  /** What it waits for, for errors. */
  protected abstract String missing();

  /** It failed, just now: what it left to others is not to go on. */
  protected void cut() {
    // Most leave nothing to others.
  }

  /** It runs from now on. */
  protected final void begin() {
    failure = null;
    inFlight = 0;
    running = true;
    reported = false;
    quiet = false;
    leaseEnded = false;
    timed = false;
    queue.began();
  }

  /** It is no more, though not over: its slot is another request's, or free. */
  final void withdraw() {
    running = false;
    queue.becameQuiet();
  }

  final int slot() {
    return slot;
  }

  /** Whether it shall still come to something. */
  protected final boolean isLive() {
    return running && failure == null;
  }

  final @Nullable Failure failure() {
    return failure;
  }

  /** An operation is in flight from now on. */
  protected final void posted() {
    inFlight++;
  }

  /** An operation is back. */
  protected final void returned() {
    inFlight--;
  }

  /** The time of its bound starts again. */
  protected final void restartBound() {
    timed = false;
  }

  @Override
  protected final boolean post() {
    posting = true;
    boolean done = !isLive() || (queue.mayPost() && postAll());
    posting = false;
    settle();
    return done || !isLive();
  }

  @Override
  public void failed(long cookie, RailPort port, CompletionError error) {
    returned();
    fail(Failures.of(port, error));
  }

  @Override
  public final void lost(long cookie, RailPort port, Failure why) {
    // It never comes back, and may happen yet, so that nothing can be posted in its place.
    expire(why);
  }

  /**
   * Fails it: that is reported once its operations are back, or at its bound. What outlived its
   * queue, since the peer closed, fails with the queue's cause.
   */
  final void fail(Failure why) {
    if (failure == null) {
      Failure ofAll = queue.failure();
      failure = ofAll == null ? why : ofAll;
      cut();
    }
    settle();
  }

  /** Fails it, and reports that now. Its lease is kept until its operations are back. */
  final void expire(Failure why) {
    if (!running || reported) {
      return;
    }
    if (failure == null) {
      failure = why;
      cut();
    }
    // What was cut may have ended it.
    if (!reported) {
      report();
    }
    settle();
  }

  /** Lets go of its memory, come what may: the endpoint is gone. */
  final void abandon(Failure why) {
    inFlight = 0;
    expire(why);
    settle();
  }

  /**
   * Fails it if its bound passed. Time is counted from the first check that finds it timed, or
   * finds progress.
   *
   * @param now any clock, the same in each call
   */
  final void check(long now, long boundNs) {
    if (!running || reported || (failure == null && !isTimed())) {
      return;
    }
    long progress = progress();
    boolean first = !timed;
    if (first || (failure == null && progress != seen)) {
      timed = true;
      since = now;
      seen = progress;
    }
    if (now - since >= boundNs) {
      expire(RequestQueue.timedOut(where(), missing(), boundNs));
    } else if (failure == null && !first) {
      checked();
    }
  }

  /** Ends what can be ended. */
  protected final void settle() {
    if (!running || posting) {
      return;
    }
    if (!reported && inFlight == 0 && (failure != null || isComplete())) {
      report();
    }
    if (!reported) {
      return;
    }
    if (!leaseEnded && (inFlight == 0 || !operatesOnLease()) && (failure == null || !isExposed())) {
      leaseEnded = true;
      endUse();
      queue.table().freeMemory(slot);
    }
    if (inFlight > 0) {
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
