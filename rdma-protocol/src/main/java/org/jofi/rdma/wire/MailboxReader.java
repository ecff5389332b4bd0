package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;

/**
 * The sender's view of its mailbox: what a receive is, for the sender who will write into it.
 * {@link MailboxLayout} has the bytes. Nothing is allocated. One thread at a time.
 *
 * <p>An entry is copied out of the mailbox before it is checked, and its fields are those of the
 * copy: whatever is written over the mailbox meanwhile, they are what was checked. The mailbox must
 * outlive the reader.
 */
public final class MailboxReader {
  /** {@link #poll}: some line is not there yet. */
  public static final int ABSENT = 0;

  /** {@link #poll}: the peer wrote something that it must not; see {@link #fault}. */
  public static final int MALFORMED = -1;

  private static final long NOTHING = 0;
  private static final int ADDRESS = MailboxLayout.ADDRESS / Long.BYTES;
  private static final int LENGTH = MailboxLayout.LENGTH / Long.BYTES;
  private static final int TAG = MailboxLayout.TAG / Long.BYTES;
  private static final int STAMP = MailboxLayout.STAMP / Long.BYTES;

  private final MemorySegment mailbox;
  private final MailboxLayout layout;
  private final int generation;
  private final long maxMessageBytes;
  private final int lines;

  private final long[] words;

  private long loaded = NOTHING;
  private WireFault fault = WireFault.NONE;

  /**
   * @param generation the communicator's, 1 to 65 535, as the mailbox's owner chose it
   * @param maxMessageBytes longest receive that is accepted
   * @throws IllegalArgumentException if the mailbox is too short or not aligned
   */
  public MailboxReader(
      MemorySegment mailbox, MailboxLayout layout, int generation, long maxMessageBytes) {
    layout.check(mailbox, generation);
    this.mailbox = mailbox;
    this.layout = layout;
    this.generation = generation;
    this.maxMessageBytes = maxMessageBytes;
    lines = layout.linesPerEntry();
    words = new long[lines * MailboxLayout.WORDS];
  }

  /** Whether the fields are those of a receive's entry, as it was read last. */
  public boolean isLoaded(long index) {
    return loaded == index;
  }

  /** Whether nothing of the entry of a receive is there, for the many times that this is so. */
  public boolean isAbsent(long index) {
    long stamp =
        (long)
            MailboxStamp.WORD.getAcquire(mailbox, layout.entryOffset(index) + MailboxLayout.STAMP);
    return !MailboxStamp.isOf(stamp, index, generation, 0);
  }

  /**
   * Reads the entry of a receive, if it is there. Its lines may land in any order, and be seen
   * halfway.
   *
   * @return 1; {@link #ABSENT}; or {@link #MALFORMED}
   */
  public int poll(long index) {
    int at = layout.entryOffset(index);
    for (int line = 0; line < lines; line++) {
      if (!loadLine(index, at, line)) {
        return ABSENT;
      }
    }
    loaded = index;
    WireFault found = checkReceive();
    return found == WireFault.NONE ? 1 : malformed(found);
  }

  private boolean loadLine(long index, int entry, int line) {
    long at = entry + (long) line * MailboxLayout.LINE_BYTES;
    long stamp = (long) MailboxStamp.WORD.getAcquire(mailbox, at + MailboxLayout.STAMP);
    if (!MailboxStamp.isOf(stamp, index, generation, line)) {
      return false;
    }
    loaded = NOTHING;
    int checked = MailboxLayout.checkedWord(line) / Long.BYTES;
    int into = line * MailboxLayout.WORDS;
    long folded = 0;
    for (int i = 0; i < MailboxLayout.WORDS - 1; i++) {
      long word = mailbox.get(WireLayouts.LONG, at + (long) i * Long.BYTES);
      words[into + i] = word;
      folded = MailboxStamp.fold(folded, i == checked ? word & MailboxLayout.COVERED : word);
    }
    words[into + STAMP] = stamp;
    int lineCheck = (int) (words[into + checked] >>> Integer.SIZE);
    return MailboxStamp.isSealed(stamp, lineCheck, MailboxStamp.check(stamp, folded));
  }

  private int malformed(WireFault why) {
    fault = why;
    loaded = NOTHING;
    return MALFORMED;
  }

  /** What was wrong when something was {@link #MALFORMED} last. */
  public WireFault fault() {
    return fault;
  }

  /** Where to write, as the peer's fabric addresses it. */
  public long remoteAddress() {
    return words[ADDRESS];
  }

  public long lengthBytes() {
    long length = words[LENGTH];
    return isStaged() ? length & (1L << MailboxLayout.BLOCKS_AT) - 1 : length;
  }

  /** Whether it is a staged receive, whose memory is its blocks. */
  public boolean isStaged() {
    return (words[LENGTH] & MailboxLayout.STAGED) != 0;
  }

  /** Logarithm of the length of a staged receive's blocks, and of the chunks that go there. */
  public int chunkShift() {
    return (int) (words[LENGTH] >>> MailboxLayout.SHIFT_AT) & MailboxLayout.SHIFT_MASK;
  }

  public int blocks() {
    return ((int) (words[LENGTH] >>> MailboxLayout.BLOCKS_AT) & MailboxLayout.BLOCKS_MASK) + 1;
  }

  public int tag() {
    return (int) words[TAG];
  }

  /** How many eager messages the peer had handled when the receive got its index, modulo 256. */
  public int handled() {
    return MailboxStamp.handled(words[STAMP]);
  }

  public long key(int rail) {
    return words[MailboxLayout.keyOffset(rail) / Long.BYTES];
  }

  private WireFault checkReceive() {
    long length = lengthBytes();
    if (isStaged()) {
      if (words[LENGTH] < 0
          || (words[LENGTH] & MailboxLayout.STAGED_RESERVED) != 0
          || chunkShift() < MailboxLayout.LEAST_SHIFT
          || chunkShift() > MailboxLayout.MOST_SHIFT
          || length > maxMessageBytes) {
        return WireFault.RANGE;
      }
      // No more memory than that is written to.
      length = Math.min(length, (long) blocks() << chunkShift());
    }
    if (length < 0 || length > maxMessageBytes || wraps(words[ADDRESS], length)) {
      return WireFault.RANGE;
    }
    for (int rail = layout.dataRails(); rail < MailboxLayout.KEYS_PER_LINE; rail++) {
      if (key(rail) != 0) {
        return WireFault.RESERVED;
      }
    }
    return lines == 1 ? WireFault.NONE : checkSecondLine();
  }

  private WireFault checkSecondLine() {
    int checked = MailboxLayout.checkedWord(1) / Long.BYTES;
    for (int i = layout.dataRails() - MailboxLayout.KEYS_PER_LINE;
        i < MailboxLayout.WORDS - 1;
        i++) {
      long word = words[MailboxLayout.WORDS + i];
      if ((i == checked ? word & MailboxLayout.COVERED : word) != 0) {
        return WireFault.RESERVED;
      }
    }
    return WireFault.NONE;
  }

  /** Whether a range, of unsigned addresses, passes the end of the address space. */
  static boolean wraps(long address, long length) {
    return length > 0 && Long.compareUnsigned(address + length - 1, address) < 0;
  }
}
