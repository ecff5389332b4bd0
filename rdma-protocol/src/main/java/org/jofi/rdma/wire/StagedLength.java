package org.jofi.rdma.wire;

/**
 * The length field of the entry of a staged receive, which tells its blocks as well.
 *
 * <pre>
 * [63] 0 | [62] 1 | [61:57] logarithm of a block's length, 6 to 30 | [56:45] 0 | [44:42] blocks - 1
 * [41:0] length of the receive
 * </pre>
 *
 * The blocks lie one after the other. Chunk c of a message, of a block's length, goes into block c
 * modulo their number.
 */
public final class StagedLength {
  private static final long STAGED = 1L << 62;
  private static final int LEAST_SHIFT = 6;
  private static final int MOST_SHIFT = 30;
  private static final int SHIFT_AT = 57;
  private static final int SHIFT_MASK = 0x1f;
  private static final int BLOCKS_AT = 42;
  private static final int BLOCKS_MASK = 7;
  private static final long RESERVED = 0xfffL << 45;
  private static final long BYTES_MASK = (1L << BLOCKS_AT) - 1;

  private StagedLength() {}

  /**
   * The field.
   *
   * @param blocks 1 to 8
   * @param lengthBytes of the whole receive
   * @param shift logarithm of a block's length, 6 to 30
   */
  public static long of(int blocks, long lengthBytes, int shift) {
    return STAGED | (long) shift << SHIFT_AT | (long) (blocks - 1) << BLOCKS_AT | lengthBytes;
  }

  static boolean isStaged(long word) {
    return (word & STAGED) != 0;
  }

  /** Whether its parts are within their bounds, but for the length. */
  static boolean isSound(long word) {
    return word >= 0
        && (word & RESERVED) == 0
        && shift(word) >= LEAST_SHIFT
        && shift(word) <= MOST_SHIFT;
  }

  static int shift(long word) {
    return (int) (word >>> SHIFT_AT) & SHIFT_MASK;
  }

  static int blocks(long word) {
    return ((int) (word >>> BLOCKS_AT) & BLOCKS_MASK) + 1;
  }

  static long bytes(long word) {
    return word & BYTES_MASK;
  }

  /** How much memory is written to. */
  static long reachedBytes(long word) {
    return Math.min(bytes(word), (long) blocks(word) << shift(word));
  }
}
