package org.jofi.transport;

/**
 * Is told when rails come to be used, or not to be used any more: {@link
 * TransportOptions.Builder#railListener}. Only of peers with several rails: the end of a single one
 * is that of the connection, and its requests fail.
 */
@FunctionalInterface
public interface RailListener {
  /** Listens to nothing. */
  RailListener NONE = change -> {};

  /**
   * A rail changed. Called by a thread that makes progress, after it gave the endpoint's lock back;
   * by one at a time for each endpoint, in the order of the changes. It may use the transport, but
   * not close it, and should return soon: a progress thread waits for it. What it throws is logged.
   *
   * @param change which rail of which peer, what it is now, and why
   */
  void changed(RailChange change);

  /**
   * A peer has more or fewer rails than a device of this transport, and only those are used with it
   * that both have. Called once for each set of rails that is used instead of all, by a thread that
   * connects, accepts or tends the transport. It may use the transport, but not close it. What it
   * throws is logged.
   *
   * @param line which device, how many rails each side has, which are used, and which are left out
   */
  default void leftOut(String line) {}
}
