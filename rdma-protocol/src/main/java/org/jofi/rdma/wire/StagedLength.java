package org.jofi.rdma.wire;

/**
 * The length field of an entry of a staged receive, which tells the chunk as well.
 *
 * <pre>
 * [63] 0 | [62] 1 | [61:57] logarithm of a chunk's length, 6 to 30 | [56:48] round modulo 512
 * [47:45] entries of the receive - 1 | [44:42] which of them | [41:0] length of the whole receive
 * </pre>
 *
 * Chunk c is offered in entry c modulo the number of entries, in round c divided by that.
 */
final class StagedLength {
  private static final long STAGED = 1L << 62;
  private static final int LEAST_SHIFT = 6;
  private static final int MOST_SHIFT = 30;
  private static final int SHIFT_AT = 57;
  private static final int SHIFT_MASK = 0x1f;
  private static final int ROUND_AT = 48;
  private static final int ROUND_MASK = 0x1ff;
  private static final int ENTRIES_AT = 45;
  private static final int POSITION_AT = 42;
  private static final long BYTES_MASK = (1L << POSITION_AT) - 1;

  private StagedLength() {}

  static long of(long chunk, int entries, long lengthBytes, int chunkShift) {
    return STAGED
        | (long) chunkShift << SHIFT_AT
        | (chunk / entries & ROUND_MASK) << ROUND_AT
        | (long) (entries - 1) << ENTRIES_AT
        | chunk % entries << POSITION_AT
        | lengthBytes;
  }

  /** Whether a length field is one of these. */
  static boolean isStaged(long word) {
    return (word & STAGED) != 0;
  }

  /** Whether its parts are within their bounds, but for the length. */
  static boolean isSound(long word) {
    return word >= 0
        && shift(word) >= LEAST_SHIFT
        && shift(word) <= MOST_SHIFT
        && position(word) < entries(word);
  }

  static int shift(long word) {
    return (int) (word >>> SHIFT_AT) & SHIFT_MASK;
  }

  static int round(long word) {
    return (int) (word >>> ROUND_AT) & ROUND_MASK;
  }

  static boolean isOfRound(long word, long round) {
    return round(word) == (round & ROUND_MASK);
  }

  static int entries(long word) {
    return ((int) (word >>> ENTRIES_AT) & 7) + 1;
  }

  static int position(long word) {
    return (int) (word >>> POSITION_AT) & 7;
  }

  static long bytes(long word) {
    return word & BYTES_MASK;
  }
}
