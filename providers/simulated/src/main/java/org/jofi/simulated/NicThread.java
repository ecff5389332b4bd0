package org.jofi.simulated;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a network in real time going when nobody polls, as NICs do. Runs while fabrics are open.
 */
final class NicThread {
  private static final long PERIOD_NANOS = 1_000_000;

  private final Network network;
  private int users;
  private @Nullable Thread thread;

  NicThread(Network network) {
    this.network = network;
  }

  /** A fabric opened. */
  synchronized void retain() {
    if (users++ == 0) {
      thread = Thread.ofPlatform().daemon().name("simulated-nics").start(this::run);
    }
  }

  /** A fabric closed. */
  synchronized void release() {
    Thread last = thread;
    if (--users == 0 && last != null) {
      thread = null;
      LockSupport.unpark(last);
    }
  }

  private synchronized boolean isMine() {
    return Thread.currentThread().equals(thread);
  }

  private void run() {
    // The first round may come before retain() has noted the thread: it holds the monitor.
    while (isMine()) {
      network.progress();
      LockSupport.parkNanos(this, PERIOD_NANOS);
    }
  }
}
