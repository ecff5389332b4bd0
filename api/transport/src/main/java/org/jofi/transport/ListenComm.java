package org.jofi.transport;

import org.jspecify.annotations.Nullable;

/** A listener. It accepts any number of connectors, at once or one after another. Any thread. */
public interface ListenComm extends AutoCloseable {

  /** {@return the device that it is on} */
  Device device();

  /** {@return what a connector needs} */
  ConnectHandle handle();

  /**
   * Makes progress and returns the next connection that is made. Never blocks. A connector that
   * presents a wrong nonce, or dies before the connection is made, is not returned here.
   *
   * @return null if there is no new connection yet: call again
   * @throws TransportException if the device failed
   * @throws IllegalStateException if it is closed
   */
  @Nullable RecvComm accept();

  /**
   * {@return how many connection requests were refused so far: with a wrong nonce, malformed, of
   * another version, or with a different number of rails}
   */
  long refused();

  /** Closes it. Accepted connections stay open. A second call does nothing. */
  @Override
  void close();
}
