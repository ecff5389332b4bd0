package org.jofi.transport;

/**
 * A group of NICs that are used as one. Each NIC of it is a rail. Any thread; it closes with its
 * transport.
 */
public interface Device {

  /** {@return what it is and can do} */
  DeviceProperties properties();

  /** {@return what its registration cache did and holds; of all zeros until it is first used} */
  CacheStatistics cacheStatistics();

  /**
   * Opens a poller for this device's communicators and one thread.
   *
   * @return a poller without communicators: {@link Poller#add} adds them
   */
  Poller openPoller();

  /**
   * Starts to listen.
   *
   * @return a new listener, which the caller closes
   * @throws TransportException if the device cannot be opened; nothing stays open then
   */
  ListenComm listen();

  /**
   * Starts to connect. The listener may be in this process, and on this device.
   *
   * @param handle the handle of the listener: {@link ListenComm#handle()}
   * @return the attempt, which goes on as {@link ConnectAttempt#poll} is called
   * @throws TransportException if the device cannot be opened; nothing stays open then. With {@link
   *     FailureCause#INCOMPATIBLE} if the listener speaks another version of the protocol, or its
   *     provider and this one do not understand each other; the message names both ends
   */
  ConnectAttempt connect(ConnectHandle handle);
}
