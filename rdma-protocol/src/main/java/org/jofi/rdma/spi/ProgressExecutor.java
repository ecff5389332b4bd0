package org.jofi.rdma.spi;

import java.util.concurrent.locks.Lock;
import java.util.function.IntSupplier;

/**
 * Makes progress on one endpoint, in addition to the threads that use the endpoint. It holds the
 * endpoint's lock while it polls. When nothing happens, it rests; then threads that wait for a
 * request have to make progress themselves. Call {@link #entered} with the lock held, {@link
 * #isResting} with or without it, and all other methods without it. Any thread.
 */
public interface ProgressExecutor extends AutoCloseable {
  /** Starts executors. */
  @FunctionalInterface
  interface Starter {
    /** For environments without threads, such as virtual time. */
    Starter NONE =
        (label, lock, round, between, closeNs) -> {
          throw new UnsupportedOperationException("no progress threads here");
        };

    /**
     * Starts an executor.
     *
     * @param label the endpoint's name
     * @param lock the endpoint's lock
     * @param round polls the endpoint once, with the lock held, and returns how many events there
     *     were
     * @param between called without the lock after each round; quick, mostly
     * @param closeNs how long a close waits for a round to end
     * @throws org.jofi.transport.TransportException with {@code EXHAUSTED} if there is no thread
     *     for it
     */
    ProgressExecutor start(
        String label, Lock lock, IntSupplier round, Runnable between, long closeNs);
  }

  /**
   * Asks for the lock before the caller takes it, for rare calls: the executor leaves it free once.
   */
  void ask();

  /**
   * Announces that the caller is about to take the lock. The executor leaves it free until {@link
   * #entered}.
   */
  void announce();

  /**
   * Announces the caller, unless the executor is in a long round, because it is copying data.
   *
   * @return whether it was announced
   */
  boolean announceUnlessBusy();

  /**
   * Waits until the current round ends, up to a time limit, then announces the caller.
   *
   * @return whether it was announced; false if the executor is still in a round
   */
  boolean announceWithin(long boundNs);

  /** Tells the executor that the caller, which announced itself, has taken the lock. */
  void entered();

  /** Whether other threads have to make progress on the endpoint. */
  boolean isResting();

  /**
   * Ends the executor.
   *
   * @throws org.jofi.transport.TransportException with {@code TIMED_OUT} if a round does not end;
   *     the endpoint cannot be closed then
   */
  @Override
  void close();
}
