package org.jofi.fabric;

/**
 * What was moved until now between an endpoint and a peer, as far as the provider, or what is below
 * it, knows. Any of it may be less than before if they connected anew.
 *
 * @param confirmedBytes sent to the peer, as far as its machine confirmed them, and whether or not
 *     an operation of theirs is done
 * @param receivedBytes that came from the peer, likewise
 * @param packets with data that were sent to the peer; 0 if unknown
 * @param repeated those of them that were sent because one before was lost, or late
 */
public record LinkTraffic(long confirmedBytes, long receivedBytes, long packets, long repeated) {
  /** Nothing was moved yet. */
  public static final LinkTraffic NONE = new LinkTraffic(0, 0, 0, 0);

  /**
   * Both together.
   *
   * @param other of another connection
   * @return the sums
   */
  public LinkTraffic plus(LinkTraffic other) {
    return new LinkTraffic(
        confirmedBytes + other.confirmedBytes,
        receivedBytes + other.receivedBytes,
        packets + other.packets,
        repeated + other.repeated);
  }

  /**
   * What was moved in both directions.
   *
   * @return the bytes
   */
  public long movedBytes() {
    return confirmedBytes + receivedBytes;
  }
}
