package org.jofi.runtime;

import static java.lang.System.Logger.Level.ERROR;

import java.time.Duration;
import java.util.function.IntSupplier;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/**
 * A daemon thread that answers a transport's peers while the application computes: it wakes up
 * every 100 ms. Agrona's runner waits for its end without a bound, so this one sets it.
 */
final class HousekeepingThread implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("org.jofi.runtime");
  private static final long WAKE_MS = 100;

  private final AgentRunner runner;
  private final Thread thread;
  private final Duration closeTimeout;

  /**
   * @param tend answers them once; how many events there were
   * @param closeTimeout how long a close waits for that to return
   */
  HousekeepingThread(IntSupplier tend, Duration closeTimeout) {
    this.closeTimeout = closeTimeout;
    runner =
        new AgentRunner(
            new SleepingMillisIdleStrategy(WAKE_MS),
            error -> LOG.log(ERROR, "the thread that answers peers met an error", error),
            null,
            new HousekeepingAgent(tend));
    thread = AgentRunner.startOnThread(runner, HousekeepingThread::daemon);
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Ends it; if it does not end in time, call again.
   *
   * @throws TransportException with {@link FailureCause#TIMED_OUT} if it does not
   */
  @Override
  public void close() {
    int boundMs = (int) Math.clamp(closeTimeout.toMillis(), 2 * WAKE_MS, Integer.MAX_VALUE);
    runner.close(
        boundMs,
        _ -> {
          throw stuck();
        });
    // The runner waits once, and not for a thread that has not begun.
    try {
      if (!thread.join(Duration.ofMillis(boundMs))) {
        throw stuck();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private TransportException stuck() {
    return new TransportException(
        FailureCause.TIMED_OUT,
        "the thread that answers peers has been in the provider for %s: the transport stays open, close it again"
            .formatted(closeTimeout));
  }
}
