package org.jofi.rdma.wire;

/**
 * What a side can do, as bits of the handshake. A connector offers, the accepting side answers with
 * those of them that it can do too, and both use no others. Bits that a side does not know are
 * ignored in an offer.
 */
public final class Features {
  /** Writes with immediate data work in this direction. */
  public static final long WRITE_DATA = 1;

  /** Writes that complete on delivery, followed by a small send, work in this direction. */
  public static final long WRITE_THEN_SEND = 1 << 1;

  /** The receiver's completions tell how long a write was. */
  public static final long COMPLETION_LENGTHS = 1 << 2;

  /** Messages may be sent before a receive was announced: {@link EagerGrant}. */
  public static final long EAGER = 1 << 3;

  /** All that this version defines. */
  public static final long ALL = WRITE_DATA | WRITE_THEN_SEND | COMPLETION_LENGTHS | EAGER;

  private static final long DELIVERY = WRITE_DATA | WRITE_THEN_SEND;

  private Features() {}

  /** What both sides can do. */
  public static long common(long offered, long own) {
    return offered & own & ALL;
  }

  /** Whether two sides with these in common have a way to deliver immediate data. */
  public static boolean suffice(long common) {
    return (common & DELIVERY) != 0;
  }
}
