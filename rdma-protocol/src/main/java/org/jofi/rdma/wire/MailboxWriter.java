package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;

/**
 * The receiver's view of its copy of a mailbox, from which it writes entries into the sender's.
 * {@link MailboxLayout} has the bytes. Nothing is allocated. One thread at a time.
 *
 * <p>An entry is void from {@link #put} to {@link #seal}. The copy must outlive the writer.
 */
public final class MailboxWriter {
  private final MemorySegment copy;
  private final MailboxLayout layout;
  private final int generation;

  /**
   * @param copy as long as the mailbox
   * @param generation the communicator's, 1 to 65 535, as the mailbox's owner chose it
   * @throws IllegalArgumentException if the copy is too short or not aligned
   */
  public MailboxWriter(MemorySegment copy, MailboxLayout layout, int generation) {
    layout.check(copy, generation);
    this.copy = copy;
    this.layout = layout;
    this.generation = generation;
  }

  /** Writes a receive, all but its keys and stamps. */
  public void put(long index, long remoteAddress, long length, int tag) {
    long at = layout.entryOffset(index);
    for (int word = 0; word < layout.entryBytes(); word += Long.BYTES) {
      copy.set(WireLayouts.LONG, at + word, 0L);
    }
    copy.set(WireLayouts.LONG, at + MailboxLayout.ADDRESS, remoteAddress);
    copy.set(WireLayouts.LONG, at + MailboxLayout.LENGTH, length);
    copy.set(WireLayouts.INT, at + MailboxLayout.TAG, tag);
  }

  public void putKey(long index, int rail, long key) {
    copy.set(WireLayouts.LONG, layout.entryOffset(index) + MailboxLayout.keyOffset(rail), key);
  }

  /** Stamps an entry, with the low 8 bits of what was handled: it may be written now. */
  public void seal(long index, int handled) {
    for (int line = 0; line < layout.linesPerEntry(); line++) {
      long at = layout.entryOffset(index) + (long) line * MailboxLayout.LINE_BYTES;
      int checked = MailboxLayout.checkedWord(line);
      long folded = 0;
      for (int word = 0; word < MailboxLayout.STAMP; word += Long.BYTES) {
        long value = copy.get(WireLayouts.LONG, at + word);
        folded = MailboxStamp.fold(folded, word == checked ? value & MailboxLayout.COVERED : value);
      }
      long stamp = MailboxStamp.of(index, generation, line, handled);
      long check = MailboxStamp.check(stamp, folded);
      copy.set(WireLayouts.INT, at + checked + Integer.BYTES, (int) check);
      MailboxStamp.WORD.setRelease(
          copy, at + MailboxLayout.STAMP, MailboxStamp.sealed(stamp, check));
    }
  }
}
