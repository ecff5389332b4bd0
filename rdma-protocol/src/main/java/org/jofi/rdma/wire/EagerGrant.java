package org.jofi.rdma.wire;

/**
 * What an acceptor lets the connector send before a receive was announced.
 *
 * @param credits how many messages that the receiver has not taken, 0 to {@link #MOST_CREDITS}
 * @param bytes the longest of them, 0 to {@link #MOST_BYTES}; 0 if and only if there are no credits
 */
public record EagerGrant(int credits, int bytes) {
  public static final int MOST_CREDITS = 128;

  /** The longest eager message: with what is around it, it fits into 64 KiB. */
  public static final int MOST_BYTES = (64 << 10) - 64;

  /** What an endpoint stores of such messages for as many connections as there are, about. */
  public static final long STORED_BYTES = 64L << 20;

  /** Credits of a connection among very many. */
  public static final int LEAST_CREDITS = 4;

  private static final int USUAL_CREDITS = 64;
  private static final int LEAST_PACKET_BYTES = 4 * 1024;

  /** Nothing is sent before its receive was announced. */
  public static final EagerGrant NONE = new EagerGrant(0, 0);

  public EagerGrant {
    if (!isGrant(credits, bytes)) {
      throw new IllegalArgumentException(
          "cannot grant %d eager messages of %d bytes".formatted(credits, bytes));
    }
  }

  /** Messages of up to so many bytes, as many at once as are worth it; none with 0. */
  public static EagerGrant of(int bytes) {
    return bytes == 0 ? NONE : new EagerGrant(USUAL_CREDITS, bytes);
  }

  /** How long packets of these messages are: one has room for several, but for the longest. */
  public int packetBytes() {
    return isNone() ? 0 : Math.max(LEAST_PACKET_BYTES, EagerPacket.bytesFor(bytes));
  }

  public boolean isNone() {
    return credits == 0;
  }

  /** This grant, for messages up to another length at most. */
  public EagerGrant upTo(int most) {
    int less = Math.min(bytes, most);
    return less == 0 ? NONE : new EagerGrant(credits, less);
  }

  /**
   * This grant, or fewer messages at once if there are many connections, so that as many with an
   * equal grant store {@link #STORED_BYTES} at most; at least {@link #LEAST_CREDITS}.
   */
  public EagerGrant among(int connections) {
    if (isNone()) {
      return this;
    }
    long share = STORED_BYTES / (Math.max(1L, connections) * bytes);
    return new EagerGrant(Math.min(credits, (int) Math.max(LEAST_CREDITS, share)), bytes);
  }

  /** Whether these make a grant; half of one would promise what nobody can use. */
  static boolean isGrant(long credits, long bytes) {
    return credits >= 0
        && credits <= MOST_CREDITS
        && bytes >= 0
        && bytes <= MOST_BYTES
        && (credits == 0) == (bytes == 0);
  }
}
