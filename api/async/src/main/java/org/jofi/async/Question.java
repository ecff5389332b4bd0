package org.jofi.async;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/** A command whose sender waits for the answer. */
abstract class Question<T> extends Command {
  private final AtomicBoolean taken = new AtomicBoolean();
  private final CompletableFuture<T> answered = new CompletableFuture<>();

  /** On the driver's thread. What it throws is thrown to who asked. */
  abstract T answer();

  /** What it is answered with if the driver does not come to it; or throws. */
  abstract T unanswered(@Nullable TransportException why);

  @Override
  final void carryOut() {
    if (taken.compareAndSet(false, true)) {
      try {
        answered.complete(answer());
      } catch (RuntimeException e) {
        answered.completeExceptionally(e);
      }
    }
  }

  @Override
  final void refuse(TransportException why) {
    // It may have been taken by who failed amid it, and then nobody else answers.
    taken.set(true);
    try {
      answered.complete(unanswered(why));
    } catch (RuntimeException e) {
      answered.completeExceptionally(e);
    }
  }

  /** Waits for the answer; an interrupt does not end that, and stays. */
  final T ask(DriverThread driver) {
    if (driver.isCurrent()) {
      return answer();
    }
    driver.push(this);
    if (!Waiting.isDone(answered, DriverThread.ANSWER_NS) && taken.compareAndSet(false, true)) {
      return unanswered(null);
    }
    // Who took it is about to answer, or to end and refuse it.
    return Waiting.result(answered);
  }
}
