package org.jofi.transport;

import org.jspecify.annotations.Nullable;

/** Waits for connectors, any number of them, at once or one after another. Any thread. */
public interface ListenComm extends AutoCloseable {

  /** The device that it is on. */
  Device device();

  /** What a connector needs. */
  ConnectHandle handle();

  /**
   * Takes the next connection that stands, and makes progress. Never blocks. A connector that did
   * not present the nonce, or that died meanwhile, is counted and never seen here.
   *
   * @return null if there is none yet: call again
   * @throws TransportException if the device failed
   * @throws IllegalStateException if it is closed
   */
  @Nullable RecvComm accept();

  /**
   * Connectors that were turned away so far: without the nonce, malformed, of another version, or
   * with other rails.
   */
  long refused();

  /** Closes it; connections that were accepted stay. Again is a no-op. */
  @Override
  void close();
}
