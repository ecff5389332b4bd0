package org.jofi.transport;

/** A group of NICs used as one, its rails. Any thread; closed with its transport. */
public interface Device {

  /** What it is and can do. */
  DeviceProperties properties();

  /**
   * Starts to listen.
   *
   * @throws TransportException if the device cannot be opened; nothing stays open then
   */
  ListenComm listen();

  /**
   * Starts to connect. Connecting to a listener of this very process, and device, is fine.
   *
   * @throws TransportException if the device cannot be opened; nothing stays open then
   */
  ConnectAttempt connect(ConnectHandle handle);
}
