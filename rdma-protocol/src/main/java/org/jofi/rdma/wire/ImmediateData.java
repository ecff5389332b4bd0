package org.jofi.rdma.wire;

/**
 * The 32 bits that arrive with a stripe: which receive of which communicator, which stripe, and
 * whether it is the last.
 *
 * <pre>
 * [31:27] stripe | [26] final | [25] short | [24:10] receiver's communicator
 * [9:0] receive index modulo 1024
 * </pre>
 *
 * The stripe's own number, rather than a count, lets a receiver recognise a duplicate, and a sender
 * send a stripe again on another rail. Only the one of the highest number is {@code final}, so that
 * a sender may cut a message while it is under way. {@code short} says that the true length follows
 * in a {@link ControlMessage}.
 */
public final class ImmediateData {
  private static final int INDEX_MASK = (1 << ProtocolLimits.INDEX_BITS) - 1;
  private static final int LAST = ProtocolLimits.MAX_STRIPES - 1;

  private ImmediateData() {}

  /** The bits; each part within its range. */
  public static int of(
      int stripe, boolean isFinal, boolean isShort, int communicator, long receiveIndex) {
    assert stripe >= 0 && (stripe < LAST || (stripe == LAST && isFinal));
    assert communicator >= 1 && communicator <= ProtocolLimits.MAX_COMMUNICATOR;
    return stripe << 27
        | (isFinal ? 1 << 26 : 0)
        | (isShort ? 1 << 25 : 0)
        | communicator << ProtocolLimits.INDEX_BITS
        | ((int) receiveIndex & INDEX_MASK);
  }

  /** What is wrong with immediate data, zero-extended, as a completion queue reports it. */
  public static WireFault check(long data) {
    if (data >>> 32 != 0) {
      return WireFault.IMMEDIATE;
    }
    int bits = (int) data;
    if (stripe(bits) == LAST && !isFinal(bits)) {
      return WireFault.STRIPE;
    }
    return communicator(bits) == 0 ? WireFault.COMMUNICATOR : WireFault.NONE;
  }

  public static int stripe(int bits) {
    return bits >>> 27;
  }

  /** Whether it is the stripe of the highest number. */
  public static boolean isFinal(int bits) {
    return (bits >>> 26 & 1) != 0;
  }

  /** Whether the true length follows in a control message. */
  public static boolean isShort(int bits) {
    return (bits >>> 25 & 1) != 0;
  }

  public static int communicator(int bits) {
    return bits >>> ProtocolLimits.INDEX_BITS & ProtocolLimits.MAX_COMMUNICATOR;
  }

  /** The receive's index modulo 1024. */
  public static int indexBits(int bits) {
    return bits & INDEX_MASK;
  }
}
