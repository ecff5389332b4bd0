package org.jofi.transport;

/**
 * A group of NICs that are used as one. Each NIC of it is a rail. Any thread; it closes with its
 * transport.
 */
public interface Device {

  /** What it is and can do. */
  DeviceProperties properties();

  /** What its registration cache did and holds; of all zeros until it is first used. */
  CacheStatistics cacheStatistics();

  /** Opens a poller for this device's communicators and one thread. */
  Poller openPoller();

  /**
   * Starts to listen.
   *
   * @throws TransportException if the device cannot be opened; nothing stays open then
   */
  ListenComm listen();

  /**
   * Starts to connect. The listener may be in this process, and on this device.
   *
   * @throws TransportException if the device cannot be opened; nothing stays open then
   */
  ConnectAttempt connect(ConnectHandle handle);
}
