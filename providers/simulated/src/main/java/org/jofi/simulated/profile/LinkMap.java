package org.jofi.simulated.profile;

/** The link between each pair of NICs. Must always return the same link for the same arguments. */
@FunctionalInterface
public interface LinkMap {

  /**
   * The link that carries what one NIC sends to another, or to itself.
   *
   * @param fromHost the sender's host, 0 or more
   * @param fromNic the sender's NIC on that host
   * @param toHost the receiver's host
   * @param toNic the receiver's NIC
   */
  Link between(int fromHost, int fromNic, int toHost, int toNic);

  /** The same link everywhere. */
  static LinkMap uniform(Link link) {
    return (fromHost, fromNic, toHost, toNic) -> link;
  }
}
