package org.jofi.nccl;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread at a time in a communicator. NCCL shares a communicator between connections, and then
 * registers memory from its service thread while its progress thread posts. The progress thread
 * never waits here: it tries again later, as NCCL does anyway.
 */
final class CommGate {
  /** How long NCCL's threads wait. */
  static final Duration USUAL_PATIENCE = Duration.ofSeconds(30);

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
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

  private final Duration patience;

  /**
   * @param patience how long {@link #enter} waits
   */
  CommGate(Duration patience) {
    this.patience = patience;
  }

  /** Enters, unless another thread is in. */
  boolean tryEnter() {
    return TAKEN.compareAndSet(this, false, true);
  }

  /**
   * Enters, waiting for a thread that is in.
   *
   * @throws IllegalStateException if that stays there for as long as the patience lasts
   */
  void enter() {
    if (tryEnter()) {
      return;
    }
    long start = System.nanoTime();
    while (!tryEnter()) {
      if (System.nanoTime() - start > patience.toNanos()) {
        throw new IllegalStateException(
            "another thread has been in a call on this communicator for %d s"
                .formatted(patience.toSeconds()));
      }
      Thread.yield();
    }
  }

  /** Enters, however long it takes; for a thread that has nothing else to do. */
  void await() {
    while (!tryEnter()) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  /** Leaves; for the thread that entered. */
  void leave() {
    TAKEN.setRelease(this, false);
  }
}
