package org.jofi.transport;

import org.jspecify.annotations.Nullable;

/** An attempt to connect to a listener. One thread at a time. */
public interface ConnectAttempt extends AutoCloseable {

  /** {@return the handle of the listener} */
  ConnectHandle handle();

  /**
   * Makes progress. Never blocks. Once the connection is made, every call returns the same
   * communicator. The caller closes the communicator.
   *
   * @return the communicator; null if the connection is not made yet: call again
   * @throws TransportException if it failed: {@link FailureCause#TIMED_OUT} after {@link
   *     TransportOptions#connectTimeout()}, {@link FailureCause#REFUSED}, {@link
   *     FailureCause#INCOMPATIBLE} with what differs, {@link FailureCause#PEER_LOST}, {@link
   *     FailureCause#CLOSED} if it was given up. Every later call throws it again
   */
  @Nullable SendComm poll();

  /**
   * Gives the attempt up, unless {@link #poll} returned its communicator. A second call does
   * nothing.
   */
  @Override
  void close();
}
