package org.jofi.cli.ranks;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.jofi.transport.Comm;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jofi.transport.TransportException;

/**
 * A rank's way to wait: who waits polls, and calls {@link #idle} whenever nothing happened and
 * {@link #progressed} when something did. The wait ends when nothing happened for too long, and
 * when another rank is lost. For one thread. Allocates nothing unless it ends a wait.
 */
public final class Patience {
  /** Looking at the clock costs more than a poll of memory does. */
  private static final int POLLS_PER_LOOK = 64;

  private final Bootstrap bootstrap;
  private final long nanos;
  private final IdleStrategy idle = new YieldingIdleStrategy();
  private int polls;
  private long since;

  /**
   * @param bootstrap tells whether a rank is lost
   * @param bound how long nothing may happen
   */
  public Patience(Bootstrap bootstrap, Duration bound) {
    this.bootstrap = bootstrap;
    this.nanos = bound.toNanos();
  }

  /** Something happened: the wait begins anew. */
  public void progressed() {
    polls = 0;
  }

  /**
   * Nothing happened.
   *
   * @param what is waited for, for the message
   * @throws BootstrapException if another rank is lost
   * @throws RankFailure if it has been too long
   */
  public void idle(String what) {
    if (polls++ % POLLS_PER_LOOK == 0) {
      long now = System.nanoTime();
      if (polls == 1) {
        since = now;
      } else if (now - since > nanos) {
        throw new RankFailure(
            "%s waited %.0f s for %s, in vain".formatted(bootstrap.name(), nanos / 1e9, what));
      }
      bootstrap.check();
    }
    idle.idle();
  }

  /**
   * Waits for a request.
   *
   * @return how many bytes it moved
   * @throws RankFailure if it failed
   */
  public long await(Comm comm, long request, String what) {
    progressed();
    while (true) {
      long result = comm.test(request);
      if (result >= 0) {
        return result;
      }
      if (result != Result.IN_PROGRESS) {
        throw failed(comm, request, result, what);
      }
      idle(what);
    }
  }

  /** Why a request failed: another rank's death, if that is it, or what the transport says. */
  public RuntimeException failed(Comm comm, long request, long result, String what) {
    if (FailureCause.isFailure(result)) {
      awaitReason();
    }
    return new RankFailure(
        "%s, %s: %s"
            .formatted(
                bootstrap.name(),
                what,
                comm.failure(request).map(Failure::toString).orElse(Result.describe(result))));
  }

  /** Why set-up failed, likewise. */
  public RuntimeException failed(TransportException failure) {
    awaitReason();
    return failure;
  }

  /** The transport may notice a death before those do who know whose it is. */
  private void awaitReason() {
    long end = System.nanoTime() + 500_000_000;
    while (System.nanoTime() - end < 0) {
      bootstrap.check();
      LockSupport.parkNanos(1_000_000);
    }
  }
}
