package org.jofi.transport;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jofi.transport.diagnostics.Events;
import org.jofi.transport.diagnostics.StallEvent;
import org.jspecify.annotations.Nullable;

/**
 * Waits for requests and connections, always with a time limit, and idles as the caller chooses.
 * The waiting thread polls. Not for sharing between threads.
 *
 * <p>A virtual thread may wait with an idle strategy that only yields: now and then it is parked
 * for a moment, without which those that were woken would not run. In a loop of its own, a program
 * has to do that itself.
 *
 * <p>A wait ends early if its thread is interrupted, with {@link FailureCause#INTERRUPTED}. The
 * thread stays interrupted, and what was waited for stays in flight.
 */
public final class Await {
  /** How often a virtual thread idles, and may yield only, before it parks once. */
  private static final int YIELDS = 256;

  /** How often it idles before a wait is timed for JFR, so that a short one costs nothing. */
  private static final int IDLES_UNTIMED = 8;

  private final IdleStrategy idle;
  private final NanoClock clock;
  private int idles;
  private int idlesOfWait;
  private @Nullable StallEvent stall;

  /** Backs off, {@link IdleStrategy#backoff()}, and measures time with the system's clock. */
  public Await() {
    this(IdleStrategy.backoff());
  }

  /**
   * Measures time with the system's clock.
   *
   * @param idle what to do between polls, such as {@link IdleStrategy#yielding}
   */
  public Await(IdleStrategy idle) {
    this(idle, NanoClock.system());
  }

  /**
   * Measures time with the given clock.
   *
   * @param idle what to do between polls, such as {@link IdleStrategy#yielding}
   * @param clock what time-outs are measured with
   */
  public Await(IdleStrategy idle, NanoClock clock) {
    this.idle = idle;
    this.clock = clock;
  }

  /**
   * Waits for a request.
   *
   * @param comm whose request it is
   * @param request its id, or {@link Result#NOTHING_TO_DO}
   * @param timeout how long to wait, 0 or more; 0 looks once
   * @return the number of bytes transferred
   * @throws TransportException if it failed, with its cause; {@link FailureCause#TIMED_OUT} if it
   *     is still in flight after the time-out, and {@link FailureCause#INTERRUPTED}; it then stays
   *     in flight
   * @throws IllegalArgumentException if there is no such request
   */
  public long request(Comm comm, long request, Duration timeout) {
    long deadline = deadline(timeout);
    long result = comm.test(request);
    begin();
    try {
      while (result == Result.IN_PROGRESS) {
        if (isOver(deadline)) {
          throw late("request on " + comm.label(), timeout);
        }
        idleOnce();
        result = comm.test(request);
      }
    } finally {
      end("request", comm);
    }
    return Result.check(comm, request, result);
  }

  /**
   * Waits until all requests of a batch are over. Their results are in the batch then.
   *
   * @param requests the batch; may be empty
   * @param timeout how long to wait for all of them, 0 or more; 0 only looks
   * @throws TransportException the first failure, if any failed; {@link FailureCause#TIMED_OUT} if
   *     some are still in flight after the time-out, and stay so
   * @throws IllegalArgumentException if one was reported already, or is another communicator's
   */
  public void all(Requests requests, Duration timeout) {
    long deadline = deadline(timeout);
    begin();
    try {
      while (requests.pending() > 0) {
        if (requests.test()) {
          idle.reset();
        } else if (isOver(deadline)) {
          throw late("%d of %d requests".formatted(requests.pending(), requests.size()), timeout);
        } else {
          idleOnce();
        }
      }
    } finally {
      end("all requests of a batch", requests);
    }
    int failed = requests.failed();
    if (failed >= 0) {
      check(requests, failed);
    }
  }

  /**
   * Waits until a request of a batch is over that was not returned before.
   *
   * @param requests the batch, which remembers what was returned
   * @param timeout how long to wait, 0 or more; 0 looks once
   * @return its index; {@link Requests#result} says how it ended
   * @throws TransportException {@link FailureCause#TIMED_OUT} if none is over after the time-out
   * @throws IllegalArgumentException if it was reported already, or is another communicator's
   * @throws IllegalStateException if each was returned before
   */
  public int any(Requests requests, Duration timeout) {
    long deadline = deadline(timeout);
    begin();
    int index = requests.next();
    try {
      while (index < 0) {
        if (requests.pending() == 0) {
          throw new IllegalStateException("no request of the batch is left");
        }
        if (!requests.test()) {
          if (isOver(deadline)) {
            throw late("any of %d requests".formatted(requests.pending()), timeout);
          }
          idleOnce();
        }
        index = requests.next();
      }
    } finally {
      end("any request of a batch", requests);
    }
    if (requests.result(index) == Result.STALE_REQUEST) {
      check(requests, index);
    }
    return index;
  }

  private static void check(Requests requests, int index) {
    Result.check(requests.comm(index), requests.request(index), requests.result(index));
  }

  /**
   * Posts a request: repeats the call as long as it returns {@link Result#TRY_AGAIN}, and makes
   * progress meanwhile.
   *
   * @param comm makes progress between the calls
   * @param post a posting call on this communicator
   * @param timeout how long to repeat it, 0 or more; 0 calls it once
   * @return what the last call returned: a request id, or {@link Result#NOTHING_TO_DO}
   * @throws TransportException {@link FailureCause#TIMED_OUT} if nothing could be posted within the
   *     time-out
   */
  public long posted(Comm comm, LongSupplier post, Duration timeout) {
    long deadline = deadline(timeout);
    begin();
    try {
      long request = post.getAsLong();
      while (request == Result.TRY_AGAIN) {
        if (isOver(deadline)) {
          throw late("posting to " + comm.label(), timeout);
        }
        comm.progress();
        idleOnce();
        request = post.getAsLong();
      }
      return request;
    } finally {
      end("room to post", comm);
    }
  }

  /**
   * Waits for a connection.
   *
   * @param attempt the attempt, which is polled
   * @param timeout how long to wait, 0 or more; 0 looks once
   * @return the connection, which the caller closes
   * @throws TransportException if the attempt failed, or {@link FailureCause#TIMED_OUT}
   */
  public SendComm connection(ConnectAttempt attempt, Duration timeout) {
    return poll(attempt::poll, timeout, "connection to ", attempt.handle());
  }

  /**
   * Waits until the listener accepts a connection.
   *
   * @param listener is asked again and again
   * @param timeout how long to wait, 0 or more; 0 looks once
   * @return the connection, which the caller closes
   * @throws TransportException if the listener failed, or {@link FailureCause#TIMED_OUT}
   */
  public RecvComm accepted(ListenComm listener, Duration timeout) {
    return poll(listener::accept, timeout, "connector of ", listener.handle());
  }

  private <T> T poll(
      Supplier<@Nullable T> source, Duration timeout, String what, ConnectHandle handle) {
    long deadline = deadline(timeout);
    begin();
    try {
      while (true) {
        T found = source.get();
        if (found != null) {
          return found;
        }
        if (isOver(deadline)) {
          throw late(what + handle, timeout);
        }
        idleOnce();
      }
    } finally {
      end(what, handle);
    }
  }

  private void begin() {
    idle.reset();
    idlesOfWait = 0;
    stall = null;
  }

  /** Tells of a wait that was long. */
  private void end(String what, Object of) {
    StallEvent timed = stall;
    if (timed != null) {
      stall = null;
      if (timed.isLong()) {
        timed.commit(who(of), what.strip());
      }
    }
  }

  private static String who(Object of) {
    return switch (of) {
      case Comm comm -> comm.label();
      case Requests requests ->
          "%d requests, the first of %s".formatted(requests.size(), requests.comm(0).label());
      default -> of.toString();
    };
  }

  /**
   * A virtual thread that yields comes back to its carrier's own queue. Those that were woken from
   * a lock or a sleep are in another, which the carrier looks at when its own is empty: so a few
   * that only yield would keep all others from running. One that parks joins the others.
   */
  private void idleOnce() {
    idle.idle();
    if (++idlesOfWait == IDLES_UNTIMED) {
      stall = Events.stall();
    }
    if (++idles % YIELDS == 0 && Thread.currentThread().isVirtual()) {
      LockSupport.parkNanos(1);
    }
  }

  private long deadline(Duration timeout) {
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("timeout must not be negative, is " + timeout);
    }
    return clock.nanoTime() + timeout.toNanos();
  }

  private boolean isOver(long deadline) {
    return clock.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted();
  }

  private static TransportException late(String what, Duration timeout) {
    return Thread.currentThread().isInterrupted()
        ? new TransportException(
            FailureCause.INTERRUPTED, what + ": the waiting thread is interrupted")
        : new TransportException(
            FailureCause.TIMED_OUT, "%s: nothing within %s".formatted(what, timeout));
  }
}
