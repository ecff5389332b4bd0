package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;

/**
 * Where entries lie in a control mailbox.
 *
 * <p>A mailbox is a ring of 256 entries, one per receive, in the order of the receives' indices. An
 * entry has one line of 64 bytes for up to 4 data rails and two for more, and each line its own
 * {@link MailboxStamp} at its end:
 *
 * <pre>
 * line 0   0 u64 address   8 u64 length   16 u32 tag   20 u32 check      24 keys of rails 0 to 3
 *         56 u64 stamp
 * line 1   0 keys of rails 4 to 7        32 20 bytes reserved   52 u32 check   56 u64 stamp
 * </pre>
 *
 * <p><b>Why keys travel with each entry.</b> Sent once per registration they would make an entry
 * depend on another message, which may arrive later, and both sides keep a table that
 * deregistration must clean up across the wire. A second line costs 64 bytes, of a write that is
 * posted anyway, and only to devices with more than 4 rails.
 *
 * <p><b>Why 256 entries are enough.</b> Receive i is announced only after i − 256 completed here,
 * for which the sender had read its entry and copied what it needs, and once no write of that entry
 * is under way.
 *
 * <p>The length of a staged receive tells its blocks as well, which lie one after the other. Chunk
 * c of a message, of a block's length, goes into block c modulo their number.
 *
 * <pre>
 * [63] 0 | [62] 1 | [61:57] logarithm of a block's length, 6 to 30 | [56:45] 0 | [44:42] blocks - 1
 * [41:0] length of the receive
 * </pre>
 *
 * @param dataRails 1 to 8
 */
public record MailboxLayout(int dataRails) {
  /** Length of a line, which is written whole. */
  public static final int LINE_BYTES = 64;

  public static final int ENTRIES = ProtocolLimits.RECEIVE_WINDOW;

  /** Words of 8 bytes in a line. */
  static final int WORDS = LINE_BYTES / Long.BYTES;

  /** Logarithm of the shortest block of a staged receive. */
  public static final int LEAST_SHIFT = 6;

  /** Logarithm of the longest. */
  public static final int MOST_SHIFT = 30;

  static final long STAGED = 1L << 62;
  static final int SHIFT_AT = 57;
  static final int SHIFT_MASK = 0x1f;
  static final long STAGED_RESERVED = 0xfffL << 45;
  static final int BLOCKS_AT = 42;
  static final int BLOCKS_MASK = 7;

  static final int KEYS_PER_LINE = 4;
  static final int ADDRESS = 0;
  static final int LENGTH = 8;
  static final int TAG = 16;
  static final int FIRST_KEYS = 24;
  static final int STAMP = 56;

  /** The half of a {@link #checkedWord} that the check covers. */
  static final long COVERED = 0xffff_ffffL;

  /** The words whose upper half is the check's longer part, in line 0 and in line 1. */
  private static final int FIRST_CHECKED_WORD = 16;

  private static final int SECOND_CHECKED_WORD = 48;

  public MailboxLayout {
    if (dataRails < 1 || dataRails > ProtocolLimits.MAX_RAILS) {
      throw new IllegalArgumentException(
          "a device has 1 to %d data rails, not %d".formatted(ProtocolLimits.MAX_RAILS, dataRails));
    }
  }

  /** Refuses memory that is too short for a mailbox or not aligned, and no generation. */
  void check(MemorySegment memory, int generation) {
    if (memory.byteSize() < mailboxBytes() || memory.address() % LINE_BYTES != 0) {
      throw new IllegalArgumentException(
          "a mailbox has %d bytes and is aligned to %d; got %s"
              .formatted(mailboxBytes(), LINE_BYTES, memory));
    }
    if (generation < 1 || generation > ProtocolLimits.MAX_GENERATION) {
      throw new IllegalArgumentException("generation is 1 to 65535, not " + generation);
    }
  }

  /** The length of a staged receive, of 1 to 8 blocks. */
  public static long staged(int blocks, long lengthBytes, int shift) {
    return STAGED | (long) shift << SHIFT_AT | (long) (blocks - 1) << BLOCKS_AT | lengthBytes;
  }

  /** Lines of an entry: 1 or 2. */
  public int linesPerEntry() {
    return entryBytes() / LINE_BYTES;
  }

  public int entryBytes() {
    // How far the second entry is from the first.
    return entryOffset(1) - entryOffset(0);
  }

  /** Length of a mailbox: 16 or 32 KiB. */
  public int mailboxBytes() {
    return ENTRIES * entryBytes();
  }

  /** Where a receive's entry begins. Both sides keep it at the same offset. */
  public int entryOffset(long index) {
    int line = (int) (index & (ENTRIES - 1)) * LINE_BYTES;
    return dataRails > KEYS_PER_LINE ? 2 * line : line;
  }

  /** How many entries of so many receives, from that one on, lie before the ring's end. */
  public static int beforeEnd(long index, int receives) {
    return Math.min(receives, ENTRIES - (int) (index & (ENTRIES - 1)));
  }

  /** The word of a line whose upper half holds the longer part of its check. */
  static int checkedWord(int line) {
    return line == 0 ? FIRST_CHECKED_WORD : SECOND_CHECKED_WORD;
  }

  /** Where in its line, counted from the entry's start, the key of a rail lies. */
  static int keyOffset(int rail) {
    return rail < KEYS_PER_LINE
        ? FIRST_KEYS + rail * Long.BYTES
        : LINE_BYTES + (rail - KEYS_PER_LINE) * Long.BYTES;
  }
}
