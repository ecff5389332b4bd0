package org.jofi.transport;

/**
 * What posting calls and {@link Comm#test} return if it is neither a request id nor a length.
 *
 * <pre>
 *              posting call                      test
 * positive     request id                        done: bytes moved
 * 0            {@link #NOTHING_TO_DO}                     done: 0 bytes moved
 * -1                                             {@link #IN_PROGRESS}
 * -2           {@link #TRY_AGAIN}: nothing posted
 * -3                                             {@link #STALE_REQUEST}
 * -16 to -29                                     failed: a {@link FailureCause}
 * </pre>
 */
public final class Result {
  /**
   * There is nothing to wait for, as with a flush of host memory. {@link Comm#test} accepts it as a
   * request that is done with 0 bytes, so that callers need not treat it separately.
   */
  public static final long NOTHING_TO_DO = 0;

  /** Not done yet: test again. */
  public static final long IN_PROGRESS = -1;

  /**
   * Nothing was posted, because the communicator has no room for more now. Call again with the same
   * arguments after a {@link Comm#test} or {@link Comm#progress}.
   */
  public static final long TRY_AGAIN = -2;

  /** No such request: its result was already reported, or it belongs to another communicator. */
  public static final long STALE_REQUEST = -3;

  private Result() {}

  /**
   * {@return whether a result of {@link Comm#test} says that the request is over, done or failed}
   *
   * @param result what {@link Comm#test} returned; everything but {@link #IN_PROGRESS} is over
   */
  public static boolean isOver(long result) {
    return result != IN_PROGRESS;
  }

  /**
   * Throws if a request failed, with the failure's own words.
   *
   * @param comm whose request it is, which says more of a failure
   * @param request its id
   * @param result what {@link Comm#test} or a {@link Poller} said of it
   * @return the result: the number of bytes, or {@link #IN_PROGRESS}
   * @throws TransportException if it failed
   * @throws IllegalArgumentException if there is no such request
   */
  public static long check(Comm comm, long request, long result) {
    if (result == STALE_REQUEST) {
      throw new IllegalArgumentException(
          "%s has no request 0x%x: it was reported already, or is another's"
              .formatted(comm.label(), request));
    }
    if (result < 0 && result != IN_PROGRESS) {
      throw new TransportException(
          comm.failure(request)
              .orElseGet(() -> new Failure(FailureCause.of(result), 0, comm.label(), "")));
    }
    return result;
  }

  /**
   * {@return what a result of {@link Comm#test} means, as text for errors and logs}
   *
   * @param result may be {@link #TRY_AGAIN} as well, but no request id, which would be taken for a
   *     number of bytes
   */
  public static String describe(long result) {
    if (result >= 0) {
      return "done, " + result + " bytes";
    }
    if (result == IN_PROGRESS) {
      return "in progress";
    }
    if (result == TRY_AGAIN) {
      return "nothing posted, try again";
    }
    if (result == STALE_REQUEST) {
      return "no such request";
    }
    return FailureCause.isFailure(result)
        ? FailureCause.of(result).words()
        : "unknown result " + result;
  }
}
