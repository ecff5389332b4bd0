package org.jofi.transport;

/**
 * Why a request, a communicator or a connection attempt failed.
 *
 * <p>A send that is longer than its receive is not here: it moves as much as the receive takes, and
 * both sides report that length.
 */
public enum FailureCause {
  /** The peer died, or the network to it did. Everything pending on the communicator fails. */
  PEER_LOST(-16, "peer lost"),
  /** The request's bound passed and nothing else was learnt. */
  TIMED_OUT(-17, "timed out"),
  /** This side aborted the communicator. */
  ABORTED(-18, "aborted by this side"),
  /** The peer aborted the communicator. */
  PEER_ABORTED(-19, "aborted by the peer"),
  /** This side closed the communicator with the request in flight. */
  CLOSED(-20, "closed by this side"),
  /** The peer closed the communicator, so that the request cannot complete. */
  PEER_CLOSED(-21, "closed by the peer"),
  /** The peer, or what claims to be it, broke the protocol. */
  PROTOCOL_VIOLATION(-22, "protocol violation"),
  /** A fabric operation failed; the errno tells which way. */
  FABRIC(-23, "fabric error"),
  /** The listener refused the connection: its nonce was not presented, or it is closed. */
  REFUSED(-24, "connection refused"),
  /** The two sides cannot work together: versions, features or rail counts. */
  INCOMPATIBLE(-25, "incompatible peer"),
  /** Something ran out: regions, communicator ids, memory. */
  EXHAUSTED(-26, "out of resources"),
  /** This machine lacks what was required of it. */
  UNAVAILABLE(-27, "not available");

  private static final FailureCause[] VALUES = values();

  private final long code;
  private final String words;

  FailureCause(long code, String words) {
    this.code = code;
    this.words = words;
  }

  /** What {@link Comm#test} returns for it: -16 or less. */
  public long code() {
    return code;
  }

  /** What it is, in a few words of lower case. */
  public String words() {
    return words;
  }

  /** Whether that result is a failure's code. */
  public static boolean isFailure(long result) {
    return result <= PEER_LOST.code && result > PEER_LOST.code - VALUES.length;
  }

  /**
   * The cause that a result stands for.
   *
   * @throws IllegalArgumentException if it is no failure's code
   */
  public static FailureCause of(long result) {
    if (!isFailure(result)) {
      throw new IllegalArgumentException(result + " is no failure's code");
    }
    return VALUES[(int) (PEER_LOST.code - result)];
  }
}
