package org.jofi.conformance.liars;

import org.jspecify.annotations.Nullable;

/** Counts how often another thread comes than the one before. */
final class Threads {
  private @Nullable Thread last;
  private int switches;

  synchronized void polled() {
    if (!Thread.currentThread().equals(last)) {
      last = Thread.currentThread();
      switches++;
    }
  }

  synchronized void forget() {
    last = null;
    switches = 0;
  }

  synchronized int switches() {
    return switches;
  }
}
