package org.jofi.transport;

import org.jspecify.annotations.Nullable;

/** A connection being made. One thread at a time. */
public interface ConnectAttempt extends AutoCloseable {

  /** Whom to. */
  ConnectHandle handle();

  /**
   * Makes progress. Never blocks. Once it gave a communicator, which is the caller's to close, it
   * gives the same one again.
   *
   * @return null if the connection does not stand yet: call again
   * @throws TransportException if it failed: {@link FailureCause#TIMED_OUT} after {@link
   *     TransportOptions#connectTimeout()}, {@link FailureCause#REFUSED}, {@link
   *     FailureCause#INCOMPATIBLE} with what differs, {@link FailureCause#PEER_LOST}; again from
   *     every later call
   */
  @Nullable SendComm poll();

  /** Gives up, unless it already gave a communicator. Again is a no-op. */
  @Override
  void close();
}
