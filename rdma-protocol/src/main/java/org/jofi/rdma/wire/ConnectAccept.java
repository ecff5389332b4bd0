package org.jofi.rdma.wire;

/**
 * The accepting side's answer.
 *
 * @param id to the connector's communicator, from the accepting one
 * @param features what both sides use from now on: {@link Features}
 * @param maxMessageBytes longest message on this connection, at most what was offered
 * @param rails the accepting side's endpoints
 * @param eager what the connector may send before a receive was announced; needs {@link
 *     Features#EAGER} unless it is {@link EagerGrant#NONE}
 */
public record ConnectAccept(
    ConnectionId id, long features, long maxMessageBytes, RailAddresses rails, EagerGrant eager) {

  public ConnectAccept {
    if (!isGrantable(features, eager)) {
      throw new IllegalArgumentException("a grant of eager messages needs their feature");
    }
  }

  /** Whether sides with these features may use such a grant. */
  static boolean isGrantable(long features, EagerGrant eager) {
    return eager.isNone() || (features & Features.EAGER) != 0;
  }
}
