package org.jofi.nccl;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;

/**
 * One thread at a time in a communicator. NCCL shares a communicator between connections, and then
 * registers memory from its service thread while its progress thread posts. The progress thread
 * never waits here: it tries again later, as NCCL does anyway.
 */
final class CommGate {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final VarHandle TAKEN;

  static {
    try {
      TAKEN = MethodHandles.lookup().findVarHandle(CommGate.class, "taken", boolean.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  @SuppressWarnings({"unused", "UnusedVariable"}) // through TAKEN
  private boolean taken;

  /** Enters, unless another thread is in. */
  boolean tryEnter() {
    return TAKEN.compareAndSet(this, false, true);
  }

  /**
   * Enters, waiting for a thread that is in.
   *
   * @throws IllegalStateException if that stays there for 30 s
   */
  void enter() {
    if (tryEnter()) {
      return;
    }
    long start = System.nanoTime();
    while (!tryEnter()) {
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new IllegalStateException(
            "another thread has been in a call on this communicator for 30 s");
      }
      Thread.yield();
    }
  }

  /** Leaves; for the thread that entered. */
  void leave() {
    TAKEN.setRelease(this, false);
  }
}
