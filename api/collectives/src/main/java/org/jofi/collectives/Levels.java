package org.jofi.collectives;

import java.util.Objects;
import org.jofi.transport.Device;

/**
 * Two devices for a group: ranks of one host are connected over the one, all others over the other.
 * Immutable; any thread.
 *
 * @param network connects ranks of different hosts, and those of which it is not known; stays open
 * @param withinHost connects ranks of one host, such as a device of the provider {@code shm}; may
 *     be of another transport; stays open
 * @param host where this rank is
 */
public record Levels(Device network, Device withinHost, Host host) {

  /** Checks that nothing is missing. */
  public Levels {
    Objects.requireNonNull(network);
    Objects.requireNonNull(withinHost);
    Objects.requireNonNull(host);
  }

  /**
   * {@return two devices of a rank that is where its process is}
   *
   * @param network connects ranks of different hosts
   * @param withinHost connects ranks of one host
   */
  public static Levels of(Device network, Device withinHost) {
    return new Levels(network, withinHost, Host.here());
  }
}
