package org.jofi.nccl;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock that lets one thread at a time into a communicator. NCCL shares a communicator between
 * connections, and may register memory from its service thread while its progress thread posts. The
 * progress thread never waits here; NCCL simply calls again later.
 */
final class CommGate {
  /** The usual time limit of {@link #enter}. */
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
   * @param patience time limit of {@link #enter}
   */
  CommGate(Duration patience) {
    this.patience = patience;
  }

  /** Takes the lock, unless another thread has it. */
  boolean tryEnter() {
    return TAKEN.compareAndSet(this, false, true);
  }

  /**
   * Takes the lock, waiting if another thread has it.
   *
   * @throws IllegalStateException if the other thread keeps it for longer than the time limit
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

  /** Takes the lock without a time limit, for a thread that has nothing else to do. */
  void await() {
    while (!tryEnter()) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  /** Releases the lock. Only the thread that has it may call this. */
  void leave() {
    TAKEN.setRelease(this, false);
  }
}
