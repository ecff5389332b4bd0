package org.jofi.rdma.communicator;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * For assertions: whether one thread at a time is in the calls of a communicator. Two are found
 * only if they are there at once, and what they do is safe only in that it cannot crash.
 */
final class Callers {
  private final String label;
  private final AtomicReference<@Nullable Thread> inside = new AtomicReference<>();
  private int depth;
  private volatile String found = "";

  Callers(String label) {
    this.label = label;
  }

  /** A call begins; false if another thread is in one. */
  boolean enter() {
    Thread caller = Thread.currentThread();
    Thread other = inside.compareAndExchange(null, caller);
    if (other != null && !other.equals(caller)) {
      found = "%s is called by %s while %s is in a call of it".formatted(label, caller, other);
      return false;
    }
    depth++;
    return true;
  }

  /** A call ends that began; always true. */
  boolean leave() {
    depth--;
    if (depth == 0) {
      inside.set(null);
    }
    return true;
  }

  /** What {@link #enter} found. */
  @Override
  public String toString() {
    return found + ": one thread at a time may use a communicator";
  }
}
