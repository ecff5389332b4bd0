package org.jofi.rdma.wire;

/** Sizes that both sides of the protocol agree on by being of one version. */
public final class ProtocolLimits {
  /** The version that this code speaks. */
  public static final int VERSION = 5;

  /** Most data rails, and most control rails. */
  public static final int MAX_RAILS = 8;

  /** Most stripes of a message that go over one rail, unless others failed. */
  public static final int STRIPES_PER_RAIL = 4;

  public static final int MAX_STRIPES = STRIPES_PER_RAIL * MAX_RAILS;

  /** Most receives in a group, and most blocks of a staged receive. */
  public static final int MAX_GROUP = 8;

  /** Receive indices in flight on a communicator. A power of two. */
  public static final int RECEIVE_WINDOW = 256;

  /** Bits of a receive index that immediate data carries. */
  public static final int INDEX_BITS = 10;

  /** The greatest communicator id. 0 stands for none. */
  public static final int MAX_COMMUNICATOR = 0x7fff;

  public static final int MAX_GENERATION = 0xffff;

  public static final int MAX_ADDRESS_BYTES = 96;

  public static final int NONCE_BYTES = 16;

  public static final long MAX_MESSAGE_BYTES = 1L << 40;

  private ProtocolLimits() {}

  /** Most stripes of a message over so many rails: with one it stays whole. */
  public static int stripes(int rails) {
    return rails == 1 ? 1 : rails * STRIPES_PER_RAIL;
  }
}
