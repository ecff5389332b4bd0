package org.jofi.async;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/** A request, from its submission to its end. */
final class Transfer extends Command implements AsyncRequest {
  private static final long NOT_POSTED = 0;

  private final Lane lane;
  private final CompletableFuture<Long> outcome = new CompletableFuture<>();

  // By the driver's thread alone, and by who closes the communicator.
  /** Holds the memory, so that it stays reachable; null once it is over. */
  private @Nullable LongSupplier post;

  private long request = NOT_POSTED;

  /** What {@link InFlight} has it by. */
  long cookie;

  Transfer(Lane lane, LongSupplier post) {
    this.lane = lane;
    this.post = post;
  }

  long request() {
    return request;
  }

  /** On the submitting thread: waits for room, and gives it to the driver, or fails. */
  void submit(DriverThread driver) {
    TransportException refusal = driver.refusal();
    if (refusal != null) {
      fail(refusal);
      return;
    }
    long bound = driver.isCurrent() ? 0 : driver.options().submitTimeout().toNanos();
    long began = bound == 0 ? 0 : System.nanoTime();
    boolean entered = false;
    try {
      entered = lane.enter(bound);
      if (!entered) {
        fail(noRoom(driver, lane.capacity() + " requests that wait to be posted"));
      } else if (driver.isCurrent()) {
        driver.push(this);
      } else if (!driver.offer(this, bound == 0 ? 0 : bound - (System.nanoTime() - began))) {
        lane.leave();
        fail(noRoom(driver, driver.options().commands() + " commands"));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      if (entered) {
        lane.leave();
      }
      fail(
          new TransportException(
              FailureCause.INTERRUPTED,
              lane.comm.label() + ": interrupted while it waited for room; nothing was posted"));
    }
  }

  private TransportException noRoom(DriverThread driver, String full) {
    return new TransportException(
        FailureCause.EXHAUSTED,
        "%s: no room beside %s within %s; nothing was posted. Submit less at once, or find out why the peer does not receive"
            .formatted(lane.comm.label(), full, driver.options().submitTimeout()));
  }

  @Override
  void carryOut() {
    lane.comm.post(this, lane);
  }

  /** Posts it, unless there is no room below: false then, and it stays as it is. */
  boolean post() {
    LongSupplier how = post;
    if (how == null || outcome.isDone()) {
      lane.leave();
      return true;
    }
    long posted;
    try {
      posted = how.getAsLong();
    } catch (RuntimeException e) {
      lane.leave();
      fail(lane.comm.asFailure(e));
      return true;
    }
    if (posted == Result.TRY_AGAIN) {
      return false;
    }
    lane.leave();
    if (posted == Result.NOTHING_TO_DO) {
      complete(0);
    } else {
      request = posted;
      lane.comm.posted(this);
    }
    return true;
  }

  void complete(long bytes) {
    post = null;
    outcome.complete(bytes);
  }

  void fail(Throwable why) {
    post = null;
    outcome.completeExceptionally(why);
  }

  @Override
  void refuse(TransportException why) {
    lane.leave();
    outcome.completeExceptionally(why);
  }

  private boolean cancelNow() {
    if (outcome.isDone()) {
      return outcome.isCancelled();
    }
    // One that the driver did not come to yet finds itself done when it does.
    if (request != NOT_POSTED && !lane.comm.takeBack(this)) {
      return false;
    }
    if (request == NOT_POSTED && lane.remove(this)) {
      lane.leave();
    }
    post = null;
    return outcome.cancel(false);
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    if (outcome.isDone()) {
      return outcome.isCancelled();
    }
    DriverThread driver = lane.comm.driver;
    Question<Boolean> whether =
        new Question<>() {
          @Override
          Boolean answer() {
            return cancelNow();
          }

          @Override
          Boolean unanswered(@Nullable TransportException why) {
            return outcome.isCancelled();
          }
        };
    return whether.ask(driver);
  }

  @Override
  public boolean isCancelled() {
    return outcome.isCancelled();
  }

  @Override
  public boolean isDone() {
    return outcome.isDone();
  }

  @Override
  public Long get() throws InterruptedException, ExecutionException {
    lane.comm.driver.checkMayWait(outcome);
    return outcome.get();
  }

  @Override
  public Long get(long timeout, TimeUnit unit)
      throws InterruptedException, ExecutionException, TimeoutException {
    lane.comm.driver.checkMayWait(outcome);
    return outcome.get(timeout, unit);
  }

  @Override
  public long await(Duration timeout) {
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("timeout must not be negative, is " + timeout);
    }
    try {
      return get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      // Those of the module are unchecked, or errors of the driver's thread.
      throw e.getCause() instanceof RuntimeException cause
          ? cause
          : new TransportException(FailureCause.ABORTED, lane.comm.label(), e.getCause());
    } catch (TimeoutException e) {
      throw new TransportException(
          FailureCause.TIMED_OUT,
          "request on %s: nothing within %s; it goes on".formatted(lane.comm.label(), timeout));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TransportException(
          FailureCause.INTERRUPTED,
          "request on %s: the waiting thread is interrupted; it goes on"
              .formatted(lane.comm.label()));
    }
  }

  @Override
  public CompletableFuture<Long> toCompletableFuture() {
    return lane.comm.driver.continuations().follow(outcome);
  }

  @Override
  public String toString() {
    return "request on %s, %s"
        .formatted(
            lane.comm.label(),
            switch (outcome.state()) {
              case RUNNING -> "not over";
              case SUCCESS -> outcome.resultNow() + " bytes";
              case FAILED -> outcome.exceptionNow().toString();
              case CANCELLED -> CancellationException.class.getSimpleName();
            });
  }
}
