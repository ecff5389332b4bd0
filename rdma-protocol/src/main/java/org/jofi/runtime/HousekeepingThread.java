package org.jofi.runtime;

import static java.lang.System.Logger.Level.ERROR;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jofi.transport.diagnostics.Log;

/**
 * A daemon thread that answers a transport's peers (pings, closes and connection requests) while
 * the application computes: it wakes up every 100 ms.
 */
final class HousekeepingThread implements AutoCloseable {
  private static final Log LOG = new Log(Log.Name.TRANSPORT);
  private static final long WAKE_MS = 100;

  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("jofi-keeper").daemon().factory());
  private final Duration closeTimeout;

  HousekeepingThread(Runnable tend, Duration closeTimeout) {
    this.closeTimeout = closeTimeout;
    ScheduledFuture<?> _ =
        thread.scheduleWithFixedDelay(() -> answer(tend), 0, WAKE_MS, TimeUnit.MILLISECONDS);
  }

  private static void answer(Runnable tend) {
    try {
      tend.run();
    } catch (RuntimeException | Error error) {
      LOG.log(ERROR, "the thread that answers peers met an error", error);
    }
  }

  /**
   * Ends it; if it does not end in time, call again.
   *
   * @throws TransportException with {@link FailureCause#TIMED_OUT} if it does not
   */
  @Override
  public void close() {
    thread.shutdown();
    try {
      if (!thread.awaitTermination(
          Math.max(closeTimeout.toMillis(), 2 * WAKE_MS), TimeUnit.MILLISECONDS)) {
        throw new TransportException(
            FailureCause.TIMED_OUT,
            "the thread that answers peers has been in the provider for %s: the transport stays open, close it again"
                .formatted(closeTimeout));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
