package org.jofi.transport;

/** Opens transports: a service, found by {@link java.util.ServiceLoader}. Any thread. */
public interface TransportProvider {

  /**
   * Opens a transport; see {@link Transport#open}.
   *
   * @throws TransportException as described there
   */
  Transport open(TransportOptions options);
}
