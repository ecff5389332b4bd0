package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A flyweight over entries of one mailbox: what a receive is, for the sender who will write into
 * it. {@link MailboxLayout} has the bytes. Nothing is allocated. One thread at a time.
 *
 * <p>The receiver calls {@link #put} for each receive of a group, then {@link #seal}; the sender
 * calls {@link #poll} until it tells how many receives there are, then reads. The mailbox must be
 * aligned to 64 bytes and outlive the flyweight.
 */
public final class MailboxEntry {
  /** {@link #poll}: some line is not there yet. */
  public static final int ABSENT = 0;

  /** {@link #poll}: the peer wrote something that it must not; see {@link #fault}. */
  public static final int MALFORMED = -1;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle STAMP_WORD = LONG.varHandle();

  /** The bits of the length word, which are 0 but in an entry of a staged receive. */
  private static final long STAGED = 1L << 62;

  private static final int LEAST_SHIFT = 6;
  private static final int MOST_SHIFT = 30;
  private static final int SHIFT_AT = 57;
  private static final int SHIFT_MASK = 0x1f;
  private static final int ROUND_AT = 48;
  private static final int ROUND_MASK = 0x1ff;
  private static final long LENGTH_MASK = (1L << ROUND_AT) - 1;

  private final MemorySegment mailbox;
  private final MailboxLayout layout;
  private final int generation;
  private final long maxMessageBytes;
  private WireFault fault = WireFault.NONE;

  /**
   * @param mailbox all of it
   * @param generation the communicator's, 1 to 65 535, as the mailbox's owner chose it
   * @param maxMessageBytes longest receive that is accepted
   * @throws IllegalArgumentException if the mailbox is too short or not aligned
   */
  public MailboxEntry(
      MemorySegment mailbox, MailboxLayout layout, int generation, long maxMessageBytes) {
    if (mailbox.byteSize() < layout.mailboxBytes()
        || mailbox.address() % MailboxLayout.LINE_BYTES != 0) {
      throw new IllegalArgumentException(
          "a mailbox has %d bytes and is aligned to %d; got %s"
              .formatted(layout.mailboxBytes(), MailboxLayout.LINE_BYTES, mailbox));
    }
    if (generation < 1 || generation > ProtocolLimits.MAX_GENERATION) {
      throw new IllegalArgumentException("generation is 1 to 65535, not " + generation);
    }
    this.mailbox = mailbox;
    this.layout = layout;
    this.generation = generation;
    this.maxMessageBytes = maxMessageBytes;
  }

  /** Writes a receive, all but its keys and stamps. Its lines are void until {@link #seal}. */
  public void put(
      long messageNumber, int subReceive, long remoteAddress, long lengthBytes, int tag) {
    long at = entry(messageNumber, subReceive);
    for (int word = 0; word < layout.entryBytes(); word += Long.BYTES) {
      mailbox.set(LONG, at + word, 0L);
    }
    mailbox.set(LONG, at + MailboxLayout.ADDRESS, remoteAddress);
    mailbox.set(LONG, at + MailboxLayout.LENGTH, lengthBytes);
    mailbox.set(INT, at + MailboxLayout.TAG, tag);
  }

  /**
   * Writes the offer of a chunk of a staged receive, all but its keys and stamps: entry {@code
   * chunk} modulo 8. It is void until {@link #sealChunk}.
   *
   * @param remoteAddress of the block that takes the chunk
   * @param lengthBytes of the whole receive
   * @param chunkShift logarithm of a chunk's length, 6 to 30
   */
  public void putChunk(
      long messageNumber,
      long chunk,
      long remoteAddress,
      long lengthBytes,
      int tag,
      int chunkShift) {
    long word =
        STAGED
            | (long) chunkShift << SHIFT_AT
            | (round(chunk) & ROUND_MASK) << ROUND_AT
            | lengthBytes;
    put(messageNumber, ring(chunk), remoteAddress, word, tag);
  }

  /** Which entry of a staged receive's slot offers a chunk. */
  public static int ring(long chunk) {
    return (int) (chunk % ProtocolLimits.MAX_GROUP);
  }

  private static long round(long chunk) {
    return chunk / ProtocolLimits.MAX_GROUP;
  }

  /** Writes the receive's key on a data rail. */
  public void putKey(long messageNumber, int subReceive, int rail, long key) {
    mailbox.set(LONG, entry(messageNumber, subReceive) + MailboxLayout.keyOffset(rail), key);
  }

  /** Stamps all lines of a message: it may be written to the peer now. */
  public void seal(long messageNumber, int receives) {
    for (int receive = 0; receive < receives; receive++) {
      sealEntry(messageNumber, receives, receive);
    }
  }

  /** Stamps the offer of a chunk: it may be written to the peer now. */
  public void sealChunk(long messageNumber, long chunk) {
    sealEntry(messageNumber, ProtocolLimits.MAX_GROUP, ring(chunk));
  }

  private void sealEntry(long messageNumber, int receives, int receive) {
    for (int line = 0; line < layout.linesPerEntry(); line++) {
      long at = entry(messageNumber, receive) + (long) line * MailboxLayout.LINE_BYTES;
      long stamp = MailboxStamp.of(messageNumber, generation, receives, receive, line);
      long check = MailboxStamp.check(stamp, folded(at, line));
      mailbox.set(INT, checkAt(at, line), MailboxStamp.lineCheck(check));
      STAMP_WORD.setRelease(mailbox, at + MailboxLayout.STAMP, MailboxStamp.sealed(stamp, check));
    }
  }

  /**
   * Whether a message's entries are all there. Lines may land in any order, and be seen halfway. A
   * hostile peer may change them after this looked: read each value once, then clamp it.
   *
   * @return how many receives it has, 1 to 8; {@link #ABSENT}; or {@link #MALFORMED}
   */
  public int poll(long messageNumber) {
    int receives = 0;
    for (int receive = 0; receive == 0 || receive < receives; receive++) {
      int found = pollEntry(messageNumber, receive, receives);
      if (found <= 0) {
        return found;
      }
      if (receive == 0) {
        // The other entries of a staged receive come one by one.
        receives = isStaged(lengthWord(messageNumber, 0)) ? 1 : found;
      }
    }
    return receives;
  }

  /**
   * Whether the offer of a chunk of a staged receive is there, which {@link #poll} found.
   *
   * @return 1; {@link #ABSENT}; or {@link #MALFORMED}
   */
  public int pollChunk(long messageNumber, long chunk) {
    int found = pollEntry(messageNumber, ring(chunk), 0);
    if (found <= 0) {
      return found;
    }
    long word = lengthWord(messageNumber, ring(chunk));
    if ((word & STAGED) == 0) {
      fault = WireFault.GROUP;
      return MALFORMED;
    }
    return (word >>> ROUND_AT & ROUND_MASK) == (round(chunk) & ROUND_MASK) ? 1 : ABSENT;
  }

  /**
   * @param receives in the group; 0 if this entry tells it
   * @return receives in the group, {@link #ABSENT} or {@link #MALFORMED}
   */
  private int pollEntry(long messageNumber, int receive, int receives) {
    int group = receives;
    for (int line = 0; line < layout.linesPerEntry(); line++) {
      long at = entry(messageNumber, receive) + (long) line * MailboxLayout.LINE_BYTES;
      long stamp = (long) STAMP_WORD.getAcquire(mailbox, at + MailboxLayout.STAMP);
      if (!MailboxStamp.isOf(stamp, messageNumber, generation)
          || !MailboxStamp.isSealed(
              stamp,
              mailbox.get(INT, checkAt(at, line)),
              MailboxStamp.check(stamp, folded(at, line)))) {
        return ABSENT;
      }
      if (group == 0) {
        group = MailboxStamp.receives(stamp);
      }
      WireFault found = checkPlace(stamp, group, receive, line);
      if (found == WireFault.NONE) {
        found = line == 0 ? checkReceive(at, group) : checkSecondLine(at);
      }
      if (found != WireFault.NONE) {
        fault = found;
        return MALFORMED;
      }
    }
    return group;
  }

  /** What was wrong when {@link #poll} last said {@link #MALFORMED}. */
  public WireFault fault() {
    return fault;
  }

  /** Where to write, as the peer's fabric addresses it. */
  public long remoteAddress(long messageNumber, int subReceive) {
    return mailbox.get(LONG, entry(messageNumber, subReceive) + MailboxLayout.ADDRESS);
  }

  /** How much the receive takes, as of that length word. */
  public static long lengthBytes(long lengthWord) {
    return lengthWord & LENGTH_MASK;
  }

  /** Whether it is an offer of a staged receive, as of that length word. */
  public static boolean isStaged(long lengthWord) {
    return (lengthWord & STAGED) != 0;
  }

  /** Logarithm of a staged receive's chunks, as of that length word: within bounds. */
  public static int chunkShift(long lengthWord) {
    return Math.clamp(lengthWord >>> SHIFT_AT & SHIFT_MASK, LEAST_SHIFT, MOST_SHIFT);
  }

  /** What tells length, chunks and round. The peer may still change it: read it once. */
  public long lengthWord(long messageNumber, int subReceive) {
    return mailbox.get(LONG, entry(messageNumber, subReceive) + MailboxLayout.LENGTH);
  }

  /** Which sends it takes. */
  public int tag(long messageNumber, int subReceive) {
    return mailbox.get(INT, entry(messageNumber, subReceive) + MailboxLayout.TAG);
  }

  /** The receive's key on a data rail. */
  public long key(long messageNumber, int subReceive, int rail) {
    return mailbox.get(LONG, entry(messageNumber, subReceive) + MailboxLayout.keyOffset(rail));
  }

  private static WireFault checkPlace(long stamp, int receives, int receive, int line) {
    return MailboxStamp.receives(stamp) != receives
            || MailboxStamp.subReceive(stamp) != receive
            || MailboxStamp.line(stamp) != line
        ? WireFault.GROUP
        : WireFault.NONE;
  }

  private WireFault checkReceive(long at, int receives) {
    long address = mailbox.get(LONG, at + MailboxLayout.ADDRESS);
    long word = mailbox.get(LONG, at + MailboxLayout.LENGTH);
    long length = word;
    if ((word & STAGED) != 0) {
      int shift = (int) (word >>> SHIFT_AT) & SHIFT_MASK;
      if (word < 0
          || receives != ProtocolLimits.MAX_GROUP
          || shift < LEAST_SHIFT
          || shift > MOST_SHIFT
          || (word & LENGTH_MASK) > maxMessageBytes) {
        return WireFault.RANGE;
      }
      length = Math.min(word & LENGTH_MASK, 1L << shift);
    }
    if (length < 0 || length > maxMessageBytes || wraps(address, length)) {
      return WireFault.RANGE;
    }
    for (int rail = layout.dataRails(); rail < MailboxLayout.KEYS_PER_LINE; rail++) {
      if (mailbox.get(LONG, at + MailboxLayout.keyOffset(rail)) != 0) {
        return WireFault.RESERVED;
      }
    }
    return WireFault.NONE;
  }

  private WireFault checkSecondLine(long at) {
    int used = (layout.dataRails() - MailboxLayout.KEYS_PER_LINE) * Long.BYTES;
    for (int word = used; word < MailboxLayout.STAMP; word += Long.BYTES) {
      if (covered(at, word, 1) != 0) {
        return WireFault.RESERVED;
      }
    }
    return WireFault.NONE;
  }

  /** Whether a range, of unsigned addresses, passes the end of the address space. */
  static boolean wraps(long address, long length) {
    return length > 0 && Long.compareUnsigned(address + length - 1, address) < 0;
  }

  private long folded(long at, int line) {
    long folded = 0;
    for (int word = 0; word < MailboxLayout.STAMP; word += Long.BYTES) {
      folded = MailboxStamp.fold(folded, covered(at, word, line));
    }
    return folded;
  }

  /** A word of a line, without the check that may be in it. */
  private long covered(long at, int word, int line) {
    long value = mailbox.get(LONG, at + word);
    return word == MailboxLayout.checkedWord(line) ? value & 0xffff_ffffL : value;
  }

  private static long checkAt(long at, int line) {
    return at + MailboxLayout.checkedWord(line) + Integer.BYTES;
  }

  private long entry(long messageNumber, int subReceive) {
    return layout.slotOffset(messageNumber) + (long) subReceive * layout.entryBytes();
  }
}
