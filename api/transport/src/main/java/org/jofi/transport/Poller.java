package org.jofi.transport;

/**
 * Tells of the requests of many communicators as they end, whichever they are: one pass over the
 * endpoints below them, in place of a {@link Comm#test} of each request. For one thread, which then
 * is the one that uses the communicators. It allocates nothing per request.
 */
public interface Poller extends AutoCloseable {

  /** Is told of requests. */
  @FunctionalInterface
  interface Completions {
    /**
     * A request is over; it is not reported again. The call may post further requests, which a
     * later poll tells of, and test others, which are then not told of. It must neither close nor
     * poll. If it throws, the poll ends with that, and the next one goes on with the request after
     * it.
     *
     * @param comm whose request it is
     * @param request its id
     * @param cookie what {@link Comm#withCookie} gave it; 0 if nothing was
     * @param result as {@link Comm#test} would return it: the number of bytes, for a group of
     *     receives of all of them ({@link RecvComm#lengths} has each), or the code of a failure, of
     *     which {@link Comm#failure(long)} says more
     */
    void completed(Comm comm, long request, long cookie, long result);
  }

  /**
   * Tells of this communicator's requests from now on, those in flight and those that are over and
   * not reported yet included. A test of one still reports it, and it is then not told of.
   *
   * @param comm one of the poller's device; closing the poller leaves it open
   * @throws IllegalArgumentException if it is another device's, or is added already, here or to
   *     another poller
   */
  void add(Comm comm);

  /**
   * Tells of its requests no more; does nothing if it is not added.
   *
   * @param comm the communicator, which stays open
   */
  void remove(Comm comm);

  /**
   * Makes progress once on each endpoint, and tells of what is over; only tells, if the poll before
   * left some of what was over to this one. Requests of a communicator that was closed are told of
   * as well, after which it is no longer added.
   *
   * @param to is called for each request that is over, by the calling thread
   * @param limit tells of so many at most, 1 or more; the rest waits for the next poll. It may be
   *     fewer although more are over
   * @return how many it told of
   * @throws IllegalStateException from within a call of {@link Completions}
   */
  int poll(Completions to, int limit);

  /** Removes all communicators, which stay open. A second call does nothing. */
  @Override
  void close();
}
