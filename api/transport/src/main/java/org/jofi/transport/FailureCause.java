package org.jofi.transport;

/** Why a request, a communicator or a connection attempt failed. */
public enum FailureCause {
  /** The peer died, or the network to it failed. All pending requests of the communicator fail. */
  PEER_LOST(-16, "peer lost"),
  /** The request's time limit passed, and no other cause is known. */
  TIMED_OUT(-17, "timed out"),
  /** The communicator was aborted locally. */
  ABORTED(-18, "aborted by this side"),
  /** The peer aborted the communicator. */
  PEER_ABORTED(-19, "aborted by the peer"),
  /** The communicator was closed locally while the request was in flight. */
  CLOSED(-20, "closed by this side"),
  /** The peer closed the communicator, so that the request cannot complete. */
  PEER_CLOSED(-21, "closed by the peer"),
  /** The peer, or something that claims to be the peer, sent what the protocol does not allow. */
  PROTOCOL_VIOLATION(-22, "protocol violation"),
  /** A fabric operation failed; the errno says how. */
  FABRIC(-23, "fabric error"),
  /** The listener refused the connection: the nonce was wrong, or the listener is closed. */
  REFUSED(-24, "connection refused"),
  /** The two peers do not fit together in version, features or number of rails. */
  INCOMPATIBLE(-25, "incompatible peer"),
  /** Something ran out: regions, communicator ids, memory. */
  EXHAUSTED(-26, "out of resources"),
  /** This machine lacks something that is required. */
  UNAVAILABLE(-27, "not available"),
  /**
   * A message is longer than its receive, of which nothing is moved then. The peers do not agree on
   * sizes, so the communicator fails at both: with this at the one that noticed, and with {@link
   * #PEER_ABORTED} at the other.
   */
  TRUNCATED(-28, "message longer than its receive"),
  /**
   * The waiting thread was interrupted, and still is. Only waits end with it: what was waited for
   * goes on.
   */
  INTERRUPTED(-29, "interrupted");

  private static final FailureCause[] VALUES = values();

  private final long code;
  private final String words;

  FailureCause(long code, String words) {
    this.code = code;
    this.words = words;
  }

  /** {@return the value that {@link Comm#test} returns for it: -16 or less} */
  public long code() {
    return code;
  }

  /** {@return a few words that describe it, in lower case} */
  public String words() {
    return words;
  }

  /**
   * Whether a result is the code of a failure.
   *
   * @param result what {@link Comm#test} returned
   * @return true if it is one of the codes
   */
  public static boolean isFailure(long result) {
    return result <= PEER_LOST.code && result > PEER_LOST.code - VALUES.length;
  }

  /**
   * The cause that a result is the code of.
   *
   * @param result what {@link Comm#test} returned
   * @return the cause with that {@link #code}
   * @throws IllegalArgumentException if the result is not the code of a failure
   */
  public static FailureCause of(long result) {
    if (!isFailure(result)) {
      throw new IllegalArgumentException(result + " is no failure's code");
    }
    return VALUES[(int) (PEER_LOST.code - result)];
  }
}
