package org.jofi.rdma.sequence;

import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxReader;

/**
 * The receives that the peer announced in the mailbox, and which of them are taken. They are seen
 * in the order of their indices: the search stops at the first one whose entry is not there,
 * although later ones may be, because it may be of the same tag.
 */
public final class Announcements {
  public static final long NOWHERE = 0;

  private static final int ENTRIES = MailboxLayout.ENTRIES;

  private final MailboxReader mailbox;
  private final long[] taken = new long[ENTRIES / Long.SIZE];

  /** Tags of those that were seen and of which some may be free, a ring as long as need be. */
  private int[] tags = new int[8];

  private long oldest = ReceiveWindow.FIRST;

  /** The first one that was not seen. */
  private long unseen = ReceiveWindow.FIRST;

  public Announcements(MailboxReader mailbox) {
    this.mailbox = mailbox;
  }

  /** Looks for the next receive: its index, or what {@link MailboxReader#poll} found. */
  public long see() {
    int found = mailbox.poll(unseen);
    if (found <= 0) {
      return found;
    }
    if (unseen >= oldest + ENTRIES) {
      // A correct peer does not write over an entry before it knows that it was read.
      return MailboxReader.ABSENT;
    }
    remember(unseen, mailbox.tag());
    return unseen++;
  }

  private void remember(long index, int tag) {
    while (index - oldest >= tags.length) {
      int[] fewer = tags;
      tags = new int[2 * fewer.length];
      for (long other = oldest; other < oldest + fewer.length; other++) {
        tags[at(other)] = fewer[(int) other & fewer.length - 1];
      }
    }
    tags[at(index)] = tag;
  }

  private int at(long index) {
    return (int) index & tags.length - 1;
  }

  public long unseen() {
    return unseen;
  }

  public long seen() {
    return unseen - 1;
  }

  /** The tag of a receive that was seen and is free. */
  public int tag(long index) {
    return tags[at(index)];
  }

  /** Whether any that was seen is free. */
  public boolean hasFree() {
    return oldest < unseen;
  }

  /** The oldest receive of a tag that was seen and is free, or {@link #NOWHERE}. */
  public long find(int tag) {
    for (long index = oldest; index < unseen; index++) {
      if (tags[at(index)] == tag && !isTaken(index)) {
        return index;
      }
    }
    return NOWHERE;
  }

  /** No other send gets that receive. */
  public void take(long index) {
    mark(index, true);
    while (oldest < unseen && isTaken(oldest)) {
      mark(oldest++, false);
    }
  }

  public long entries() {
    long there = oldest - ReceiveWindow.FIRST;
    for (long index = oldest; index < oldest + ENTRIES; index++) {
      there += isThere(index) ? 1 : 0;
    }
    return there;
  }

  public long firstAbsent() {
    long index = oldest;
    while (index < oldest + ENTRIES && isThere(index)) {
      index++;
    }
    return index;
  }

  private boolean isThere(long index) {
    return isTaken(index) || mailbox.poll(index) > 0;
  }

  private boolean isTaken(long index) {
    return (taken[word(index)] & 1L << index) != 0;
  }

  private void mark(long index, boolean value) {
    if (value) {
      taken[word(index)] |= 1L << index;
    } else {
      taken[word(index)] &= ~(1L << index);
    }
  }

  private static int word(long index) {
    return (int) (index & ENTRIES - 1) / Long.SIZE;
  }
}
