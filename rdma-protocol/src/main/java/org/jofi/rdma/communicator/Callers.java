package org.jofi.rdma.communicator;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Where assertions are on: whether one thread at a time is in the calls of a communicator. Two are
 * found only if they are there at once, and what they do is safe only in that it cannot crash.
 */
final class Callers implements AutoCloseable {
  private static final boolean ASSERTS = Callers.class.desiredAssertionStatus();

  private final String label;
  private final AtomicReference<@Nullable Thread> inside = new AtomicReference<>();
  private int depth;

  Callers(String label) {
    this.label = label;
  }

  /**
   * A call, to be closed at its end; null where assertions are off.
   *
   * @throws AssertionError if another thread is in one
   */
  @Nullable Callers call() {
    if (!ASSERTS) {
      return null;
    }
    Thread caller = Thread.currentThread();
    Thread other = inside.compareAndExchange(null, caller);
    if (other != null && !other.equals(caller)) {
      throw new AssertionError(
          "%s is called by %s while %s is in a call of it: one thread at a time may use a communicator"
              .formatted(label, caller, other));
    }
    depth++;
    return this;
  }

  @Override
  public void close() {
    depth--;
    if (depth == 0) {
      inside.set(null);
    }
  }
}
