package org.jofi.simulated;

import java.util.concurrent.locks.LockSupport;
import org.jofi.simulated.engine.Engine;
import org.jspecify.annotations.Nullable;

/**
 * Drives a network in real time when nobody polls, as real NICs do. Runs while fabrics are open.
 */
final class NicThread {
  private static final long PERIOD_NANOS = 1_000_000;

  private final Engine engine;
  private int users;
  private @Nullable Thread thread;

  NicThread(Engine engine) {
    this.engine = engine;
  }

  /** Called when a fabric opens. */
  synchronized void retain() {
    if (users++ == 0) {
      thread = Thread.ofPlatform().daemon().name("simulated-nics").start(this::run);
    }
  }

  /** Called when a fabric closes. */
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
    // The first round may begin before retain() has stored the thread. isMine() waits for the
    // monitor that retain() holds.
    while (isMine()) {
      engine.progress();
      LockSupport.parkNanos(this, PERIOD_NANOS);
    }
  }
}
