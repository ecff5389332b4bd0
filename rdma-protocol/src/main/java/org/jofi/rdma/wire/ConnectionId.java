package org.jofi.rdma.wire;

/**
 * The receiver and the sender of a message. A communicator id is 0, with generation 0, if there is
 * none: {@code to} in a connect request, {@code from} in a refusal.
 *
 * @param to the receiver's communicator, 1 to 32 767, or 0
 * @param toGeneration its generation, 1 to 65 535, or 0
 * @param from the sender's communicator, by the sender's numbers
 * @param fromGeneration its generation
 * @param attempt the random number that the connector chose for the connection
 */
public record ConnectionId(int to, int toGeneration, int from, int fromGeneration, long attempt) {
  /** The same from the peer's point of view, with receiver and sender exchanged. */
  public ConnectionId reversed() {
    return new ConnectionId(from, fromGeneration, to, toGeneration, attempt);
  }
}
