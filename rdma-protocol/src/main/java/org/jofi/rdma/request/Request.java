package org.jofi.rdma.request;

import org.jofi.transport.Failure;
import org.jofi.transport.Result;
import org.jofi.transport.driven.RequestId;
import org.jspecify.annotations.Nullable;

/**
 * A request of a {@link RequestQueue}: its id, how many operations it has under way, and how it
 * ends. What it does is its {@link RequestStrategy}'s. There is one object per slot, which is used
 * again; each time its id is another.
 *
 * <pre>
 * FREE -- begin --&gt; RUNNING -- complete, failed: operations are back --&gt; OVER -- test --&gt; FREE
 *                    |   |                                               ^ |               ^ ^
 *                    |   +-- its bound, the peer's death ----------------+ | test, while     | |
 *                    |                                                     | it is held      | |
 *                    |                                                     +--&gt; KEPT ---------+ |
 *                    +-- takeBack ------------------------------------------------------------+
 * </pre>
 *
 * <p>It is held while operations of it are under way, or somebody can reach its memory: one that
 * was reported at its bound may be for long.
 *
 * <p>The time limit is for a time without progress: it starts again whenever {@link
 * RequestStrategy#progress} changes, so that a request does not time out only because many others
 * are queued before it.
 *
 * <p>A failure is reported when the request's operations have completed, so that the caller may
 * reuse the memory, but after the time limit at the latest.
 */
public final class Request {
  private enum State {
    FREE,
    RUNNING,
    OVER,
    KEPT
  }

  private static final long NEXT = RequestId.of(0, 1);

  private final RequestQueue queue;

  /** The way in which it begins. */
  private final RequestStrategy first;

  private State state = State.FREE;
  private long id;
  private long result;
  private RequestStrategy strategy;
  private @Nullable Failure failure;
  private int underWay;

  /** Whether it has memory that is not let go of. */
  private boolean leased;

  /** Whether nothing that is out counts any more. */
  private boolean abandoned;

  private boolean timed;
  private long since;
  private long seen;

  /** Whether the queue's list of what is over has it. */
  public boolean listed;

  Request(RequestQueue queue, int number) {
    this.queue = queue;
    id = number;
    first = queue.firstStrategy(this);
    strategy = first;
  }

  /** It is another request from now on. */
  RequestStrategy take() {
    state = State.RUNNING;
    id += NEXT;
    failure = null;
    strategy = first;
    underWay = 0;
    leased = true;
    timed = false;
    abandoned = false;
    return first;
  }

  /** It goes on with this strategy, and the memory that it has. */
  public void begin(RequestStrategy with) {
    strategy = with;
    timed = false;
  }

  /** It is no more, before it started: its id is stale from now on. */
  void takeBack() {
    leased = false;
    free();
  }

  private void free() {
    state = State.FREE;
    queue.freed(this);
  }

  public long id() {
    return id;
  }

  public boolean isRunning() {
    return state == State.RUNNING;
  }

  /** Whether it is over, and its caller was not told. */
  public boolean isOver() {
    return state == State.OVER;
  }

  /** Whether its slot is taken, and its caller does not know yet how it ended. */
  public boolean isKnown() {
    return state == State.RUNNING || state == State.OVER;
  }

  /** A send has its receive, or the first of a receive arrived. */
  public void matched() {
    queue.matched(this);
  }

  /** Whether it goes on in another way than it began. */
  public boolean isUnderWay() {
    return !strategy.equals(first);
  }

  /** The way in which it began, which says what was posted; null if it never began. */
  public @Nullable RequestStrategy posted() {
    return abandoned ? null : first;
  }

  /** The way in which it runs, or ran last. */
  public RequestStrategy strategy() {
    return strategy;
  }

  /** Whether it shall still come to something, in that way. */
  public boolean isLive(RequestStrategy how) {
    return state == State.RUNNING && failure == null && strategy.equals(how);
  }

  public @Nullable Failure failure() {
    return failure;
  }

  /** One more operation is under way, besides stripes: a message, or a copy. */
  public void begun() {
    underWay++;
  }

  public void returned() {
    underWay--;
  }

  /** Whether it may post, or has operations under way. */
  public boolean isBusy() {
    return state == State.RUNNING || isOut();
  }

  public boolean usesMemory() {
    return state == State.RUNNING || leased;
  }

  public void restartBound() {
    timed = false;
  }

  /** How it fares, as {@link org.jofi.transport.Comm#test} says. */
  public long test() {
    if (state == State.RUNNING) {
      return Result.IN_PROGRESS;
    }
    if (isHeld()) {
      state = State.KEPT;
    } else {
      free();
    }
    return result;
  }

  private boolean isHeld() {
    return leased || isOut();
  }

  /** It is over without having begun, with that result, or that failure. */
  public void end(long with, @Nullable Failure why) {
    state = State.OVER;
    leased = false;
    // What its slot's strategy still has out is of a request before.
    abandoned = true;
    result = with;
    failure = why;
    queue.becameOver(this);
  }

  /**
   * Fails it: that is reported once its operations are back, or at its bound. What outlived its
   * queue, since the peer closed, fails with the queue's cause.
   */
  public void fail(Failure why) {
    Failure ofAll = queue.failure();
    cut(ofAll == null ? why : ofAll);
    settle();
  }

  private void cut(Failure why) {
    if (state == State.RUNNING && failure == null) {
      failure = why;
      strategy.cut();
    }
  }

  /** Fails it, and reports that now. Its lease is kept until its operations are back. */
  public void expire(Failure why) {
    cut(why);
    // What was cut may have ended it.
    if (state == State.RUNNING) {
      report();
    }
    settle();
  }

  /** Lets go of its memory, come what may: the endpoint is gone. */
  public void abandon(Failure why) {
    cut(why);
    abandoned = true;
    expire(why);
  }

  /**
   * Fails it if its bound passed. Time is counted from the first check that finds it timed, or
   * finds progress.
   */
  public void check(long now, long boundNs) {
    if (state != State.RUNNING || (failure == null && !strategy.isTimed())) {
      return;
    }
    long progress = strategy.progress();
    boolean first = !timed;
    if (first || (failure == null && progress != seen)) {
      timed = true;
      since = now;
      seen = progress;
    }
    if (now - since >= boundNs) {
      expire(RequestQueue.timedOut(strategy.where(), strategy.missing(), boundNs));
    } else if (failure == null && !first) {
      strategy.checked();
    }
  }

  public boolean isExposed() {
    return leased && strategy.isExposed();
  }

  private boolean isOut() {
    return !abandoned && (underWay > 0 || strategy.isOut());
  }

  public void settle() {
    if (state == State.RUNNING && !isOut() && (failure != null || strategy.isComplete())) {
      report();
    }
    if (state == State.RUNNING || !leased) {
      freeIfKept();
      return;
    }
    if ((!isOut() || !strategy.operatesOnLease()) && (failure == null || !strategy.isExposed())) {
      leased = false;
      strategy.endUse();
    }
    freeIfKept();
  }

  private void freeIfKept() {
    if (state == State.KEPT && !isHeld()) {
      free();
    }
  }

  private void report() {
    Failure why = failure;
    state = State.OVER;
    result = why == null ? strategy.movedBytes() : why.cause().code();
    queue.over(this, why);
  }
}
