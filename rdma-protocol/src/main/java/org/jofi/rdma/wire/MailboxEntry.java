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

  /** Writes the receive's key on a data rail. */
  public void putKey(long messageNumber, int subReceive, int rail, long key) {
    mailbox.set(LONG, entry(messageNumber, subReceive) + MailboxLayout.keyOffset(rail), key);
  }

  /** Stamps all lines of a message: it may be written to the peer now. */
  public void seal(long messageNumber, int receives) {
    for (int receive = 0; receive < receives; receive++) {
      for (int line = 0; line < layout.linesPerEntry(); line++) {
        long at = entry(messageNumber, receive) + (long) line * MailboxLayout.LINE_BYTES;
        long stamp = MailboxStamp.of(messageNumber, generation, receives, receive, line);
        long check = MailboxStamp.check(stamp, folded(at, line));
        mailbox.set(INT, checkAt(at, line), MailboxStamp.lineCheck(check));
        STAMP_WORD.setRelease(mailbox, at + MailboxLayout.STAMP, MailboxStamp.sealed(stamp, check));
      }
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
        if (receive == 0 && line == 0) {
          receives = MailboxStamp.receives(stamp);
        }
        WireFault found = checkPlace(stamp, receives, receive, line);
        if (found == WireFault.NONE) {
          found = line == 0 ? checkReceive(at) : checkSecondLine(at);
        }
        if (found != WireFault.NONE) {
          fault = found;
          return MALFORMED;
        }
      }
    }
    return receives;
  }

  /** What was wrong when {@link #poll} last said {@link #MALFORMED}. */
  public WireFault fault() {
    return fault;
  }

  /** Where to write, as the peer's fabric addresses it. */
  public long remoteAddress(long messageNumber, int subReceive) {
    return mailbox.get(LONG, entry(messageNumber, subReceive) + MailboxLayout.ADDRESS);
  }

  /** How much the receive takes. */
  public long lengthBytes(long messageNumber, int subReceive) {
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

  private WireFault checkReceive(long at) {
    long address = mailbox.get(LONG, at + MailboxLayout.ADDRESS);
    long length = mailbox.get(LONG, at + MailboxLayout.LENGTH);
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
