package org.jofi.transport;

import java.time.Duration;
import java.util.Optional;

/**
 * How a data rail to a peer is doing, in this endpoint. All communicators between the endpoint and
 * that peer share it.
 *
 * @param rail 0 or more
 * @param nic the NIC, as in {@link DeviceProperties.Rail#nic}
 * @param state whether it is used
 * @param age for how long that has been so, in time in which the endpoint was polled; to about 50
 *     ms. {@link Duration#ZERO} with a single rail, which is not watched
 * @param cause why it is not used; empty if it is
 * @param written what goes to the peer
 * @param read what is read from the peer, by {@link Comm#iread}
 */
public record RailStatus(
    int rail,
    String nic,
    State state,
    Duration age,
    Optional<Failure> cause,
    Traffic written,
    Traffic read) {

  /** Whether a rail is used. */
  public enum State {
    /** It is used. */
    UP,
    /**
     * Nothing is known against its link, but this side or the peer closed its endpoint, for another
     * peer's sake, and the other does not know the new one yet.
     */
    REOPENING,
    /**
     * It was given up for this peer, because it failed or was silent. It is tried again, after 1 s
     * and then less and less often, up to 64 s, and comes back when the peer answers over it.
     */
    LOST,
    /** This side or the peer closed its endpoint, and does not open another one. */
    CLOSED
  }

  /**
   * What goes over a rail in one direction. With a single rail there is nothing to choose, so that
   * nothing is counted.
   *
   * @param bytes bytes of long messages and one-sided operations that are done
   * @param bytesOut bytes that were given to the rail, and are not done
   * @param bytesPerSecond how fast it is taken to be, as messages are spread by it; learned from
   *     what completes, and not a limit. 0 if nothing was measured yet
   * @param share what part of a long message would go over it now, by the rates of the rails that
   *     are used; 0 to 1
   */
  public record Traffic(long bytes, long bytesOut, long bytesPerSecond, double share) {
    /** Nothing counted. */
    public static final Traffic NONE = new Traffic(0, 0, 0, 0);
  }
}
