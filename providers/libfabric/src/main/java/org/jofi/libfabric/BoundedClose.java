package org.jofi.libfabric;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;
import org.jofi.fabric.FabricErrno;
import org.jspecify.annotations.Nullable;

/**
 * Closes an endpoint of a provider whose fi_close(3) returns only when all operations have ended,
 * also those that a peer or a NIC which is no more never ends: rxr_ep_wait_send in libfabric 1.17,
 * efa_rdm_ep_wait_send in later versions. The call is made once, on a daemon thread, so that
 * whoever closes waits for it with a bound.
 *
 * <p>One thread at a time.
 */
final class BoundedClose {
  /** Longer than a NIC takes to give a silent peer up, in most cases. */
  static final long BOUND_MS = 10_000;

  /** How long is waited for a call that was late before: others may wait for who asks. */
  private static final long AGAIN_MS = 100;

  private final String name;
  private final long boundMs;
  private @Nullable FutureTask<Integer> call;

  /**
   * @param name what is closed
   * @param boundMs how long the first who closes it waits, in milliseconds
   */
  BoundedClose(String name, long boundMs) {
    this.name = name;
    this.boundMs = boundMs;
  }

  /**
   * Makes the call, or waits a moment for the one that was made.
   *
   * @return what it returned, a negative error number or 0; {@code -ETIMEDOUT} if it goes on
   */
  int close(IntSupplier nativeClose) {
    FutureTask<Integer> pending = call;
    long waitMs = AGAIN_MS;
    if (pending == null) {
      waitMs = boundMs;
      pending = new FutureTask<>(nativeClose::getAsInt);
      Thread.ofPlatform().daemon().name("jofi-fi_close of " + name).start(pending);
      call = pending;
    }
    int result = await(pending, waitMs);
    if (result != -FabricErrno.ETIMEDOUT) {
      call = null;
    }
    return result;
  }

  private int await(FutureTask<Integer> pending, long waitMs) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return pending.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
          return -FabricErrno.ETIMEDOUT;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw new IllegalStateException("fi_close of " + name, e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
