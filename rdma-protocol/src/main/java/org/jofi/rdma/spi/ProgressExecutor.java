package org.jofi.rdma.spi;

/**
 * Makes progress on one endpoint, in addition to the threads that use the endpoint. It holds the
 * endpoint's lock while it polls, which it takes by {@link Rounds#enter}. When nothing happens, or
 * nothing for which it pays, it rests; then threads that wait for a request have to make progress
 * themselves. Call {@link #entered} with the lock held, {@link #isResting} with or without it, and
 * all other methods without it. Any thread.
 */
public interface ProgressExecutor extends AutoCloseable {
  /** Starts executors. */
  @FunctionalInterface
  interface Starter {
    /** For environments without threads, such as virtual time. */
    Starter NONE =
        (label, rounds, between, closeNs) -> {
          throw new UnsupportedOperationException("no progress threads here");
        };

    /**
     * Starts an executor.
     *
     * @param label the endpoint's name
     * @param rounds of the endpoint
     * @param between called without the lock after each round; quick, mostly
     * @param closeNs how long a close waits for a round to end
     * @throws org.jofi.transport.TransportException with {@code EXHAUSTED} if there is no thread
     *     for it
     */
    ProgressExecutor start(String label, Rounds rounds, Runnable between, long closeNs);
  }

  /** What an executor does over and over: it enters, runs a round, and leaves. */
  interface Rounds {
    /** Takes the endpoint's lock. */
    void enter();

    /** Polls the endpoint once, with the lock held; how many events there were. */
    int run();

    /**
     * Whether something so long was posted or arrived, since this was called last, that a thread of
     * its own pays: what is short is sooner where it was asked for. With the lock held.
     */
    boolean pays();

    /** Gives the lock back. */
    void leave();
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
