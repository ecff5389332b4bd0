package org.jofi.cli.ranks;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.RanksException;
import org.jofi.transport.Comm;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jofi.transport.TransportException;

/**
 * A time limit for waits of a rank. The code that waits polls in a loop; it calls {@link
 * #progressed} after a poll that found something, and {@link #idle} after one that did not. {@link
 * #idle} throws when nothing happened for too long or another rank is lost. For one thread.
 * Allocates nothing unless it throws.
 */
public final class BoundedWait {
  /** The clock is read once per this many calls, since reading it costs more than a poll. */
  private static final int POLLS_PER_LOOK = 64;

  /**
   * Polls in a row before others are let run, if there is a processor for each rank: a call of the
   * system for that takes longer than most polls of shared memory.
   */
  private static final int SPINS = 1_000;

  private final Ranks bootstrap;
  private final long nanos;
  private final int spins;
  private int polls;
  private long since;

  /**
   * @param bootstrap knows whether a rank is lost
   * @param bound how long a wait may go on without progress
   */
  public BoundedWait(Ranks bootstrap, Duration bound) {
    this.bootstrap = bootstrap;
    this.nanos = bound.toNanos();
    spins = bootstrap.size() <= Runtime.getRuntime().availableProcessors() ? SPINS : 0;
  }

  /** How long a wait may go on without progress. */
  public Duration bound() {
    return Duration.ofNanos(nanos);
  }

  /** Called after progress: the time limit starts again. */
  public void progressed() {
    polls = 0;
  }

  /**
   * Called when a poll found nothing.
   *
   * @param what what the rank waits for, for the error message
   * @throws RanksException if another rank is lost
   * @throws RankFailure if nothing happened for too long
   */
  public void idle(String what) {
    if (++polls % POLLS_PER_LOOK == 0) {
      long now = System.nanoTime();
      if (polls == POLLS_PER_LOOK) {
        since = now;
      } else if (now - since > nanos) {
        throw new RankFailure(
            "%s waited %.0f s in vain for %s".formatted(bootstrap.name(), nanos / 1e9, what));
      }
      bootstrap.check();
    }
    if (polls < spins) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }

  /**
   * Waits for a request.
   *
   * @return how many bytes it transferred
   * @throws RankFailure if it failed
   */
  public long await(Comm comm, long request, String what) {
    progressed();
    long result = test(comm, request, what);
    while (result == Result.IN_PROGRESS) {
      idle(what);
      result = test(comm, request, what);
    }
    return result;
  }

  /**
   * Tests a request once.
   *
   * @return how many bytes it transferred, or {@link Result#IN_PROGRESS}
   * @throws RankFailure if it failed
   */
  public long test(Comm comm, long request, String what) {
    long result = comm.test(request);
    if (result < 0 && result != Result.IN_PROGRESS) {
      throw failed(comm, request, result, what);
    }
    return result;
  }

  /**
   * The exception for a request that failed: that another rank was lost if so, else the transport's
   * reason.
   */
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

  /** The exception for a set-up that failed, likewise. */
  public RuntimeException failed(TransportException failure) {
    awaitReason();
    return failure;
  }

  /**
   * Waits a while for the server's message: the transport may notice that a peer died before the
   * server says which rank it was.
   */
  private void awaitReason() {
    long end = System.nanoTime() + 500_000_000;
    while (System.nanoTime() - end < 0) {
      bootstrap.check();
      LockSupport.parkNanos(1_000_000);
    }
  }
}
