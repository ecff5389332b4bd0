package org.jofi.transport;

import java.util.Optional;

/**
 * How a data rail to a peer is doing, in this endpoint. All communicators between the endpoint and
 * that peer share it.
 *
 * @param rail 0 or more
 * @param nic the NIC, as in {@link DeviceProperties.Rail#nic}
 * @param lostBy why it was given up for this peer; empty if it is in use. It is tried again from
 *     time to time
 * @param written what goes to the peer
 * @param read what is read from the peer, by {@link Comm#iread}
 */
public record RailStatus(
    int rail, String nic, Optional<Failure> lostBy, Traffic written, Traffic read) {

  /**
   * What goes over a rail in one direction. With a single rail there is nothing to choose, so that
   * nothing is counted.
   *
   * @param bytes bytes of long messages and one-sided operations that are done
   * @param bytesOut bytes that were given to the rail, and are not done
   * @param bytesPerSecond how fast it is taken to be, as messages are spread by it; learned from
   *     what completes, and not a limit. 0 if nothing was measured yet
   */
  public record Traffic(long bytes, long bytesOut, long bytesPerSecond) {
    /** Nothing counted. */
    public static final Traffic NONE = new Traffic(0, 0, 0);
  }
}
