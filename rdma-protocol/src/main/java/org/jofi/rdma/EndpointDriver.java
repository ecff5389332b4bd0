package org.jofi.rdma;

import java.util.function.IntSupplier;

/**
 * Drives one endpoint besides those that call it, holding the endpoint's lock while it does. It
 * rests when nothing happens; then those who wait for something drive the endpoint themselves. Who
 * calls {@link #entered} has the lock; {@link #isResting} is for both; who calls another has it
 * not. Any thread.
 */
public interface EndpointDriver extends AutoCloseable {
  /** Starts drivers. */
  @FunctionalInterface
  interface Starter {
    /** Where nothing runs by itself, as on virtual time. */
    Starter NONE =
        (label, lock, round, closeNs) -> {
          throw new UnsupportedOperationException("no progress threads here");
        };

    /**
     * Starts one.
     *
     * @param label the endpoint's
     * @param lock the endpoint's
     * @param round drives the endpoint once, with the lock held; how much came of it
     * @param closeNs how long a close waits for a round to end
     * @throws org.jofi.transport.TransportException with {@code EXHAUSTED} if there is no thread
     *     for it
     */
    EndpointDriver start(String label, Object lock, IntSupplier round, long closeNs);
  }

  /** The caller is about to take the lock, now and then: it is let by once. */
  void ask();

  /** The caller is about to take the lock: this stands back until {@link #entered}. */
  void announce();

  /**
   * Announces the caller unless a round is under way that takes long: data is being moved.
   *
   * @return whether it was announced
   */
  boolean announceUnlessBusy();

  /**
   * Announces the caller once the round under way has ended, however long that takes within a
   * bound.
   *
   * @return whether it was announced; not if the round, or one after it, is still under way
   */
  boolean announceWithin(long boundNs);

  /** The caller, having announced itself, has the lock. */
  void entered();

  /** Whether others are to drive the endpoint. */
  boolean isResting();

  /**
   * Ends it.
   *
   * @throws org.jofi.transport.TransportException with {@code TIMED_OUT} if a round does not end:
   *     the endpoint cannot be closed then
   */
  @Override
  void close();
}
