package org.jofi.rdma.engine;

import org.jofi.rdma.sequence.ReceiveWindow;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MailboxLayout;
import org.jspecify.annotations.Nullable;

/**
 * The receives that have an index, and with it an entry in the mailbox. An entry is used again once
 * its receive is over and the sender is known to have seen it: a short message may have made it
 * useless, but the sender looks at one entry after the other.
 */
final class AnnouncedReceives {
  private final ReceiveWindow window = new ReceiveWindow();
  private final @Nullable PostedReceive[] inFlight =
      new @Nullable PostedReceive[MailboxLayout.ENTRIES];

  /** The last receive that the sender is known to have seen. */
  private long seen;

  /** Whether so many entries are free. */
  boolean hasRoom(int entries) {
    return window.hasRoom(entries) && last() + entries - MailboxLayout.ENTRIES <= seen;
  }

  /** Gives a receive its entries; the index of the first. */
  long add(PostedReceive receive, int entries) {
    long first = window.post(entries);
    for (long index = first; index < first + entries; index++) {
      inFlight[ReceiveWindow.slot(index)] = receive;
    }
    return first;
  }

  /** The oldest index in flight; after {@link #last} if there is none. */
  long oldest() {
    return window.oldest();
  }

  /** The last index that was given. */
  long last() {
    return window.next() - 1;
  }

  /** The request in flight that a receive is of; null if there is none. */
  @Nullable PostedReceive inFlight(long index) {
    return window.isInFlight(index) ? inFlight[ReceiveWindow.slot(index)] : null;
  }

  /** The index that immediate data is for, or {@link ReceiveWindow#OUTSIDE}. */
  long indexOf(int immediate) {
    return window.inFlight(ImmediateData.indexBits(immediate));
  }

  /** A receive is over. */
  void remove(PostedReceive receive) {
    long first = receive.index();
    for (long index = first; index < first + receive.indices(); index++) {
      inFlight[ReceiveWindow.slot(index)] = null;
      boolean wasInFlight = window.complete(index);
      assert wasInFlight : index;
    }
  }

  /** Whether a receive is over whose entry the sender may not have seen. */
  boolean isUnread(long index) {
    return index > seen && index <= last() && inFlight(index) == null;
  }

  /** The sender has seen all receives up to that one; whether that is news. */
  boolean saw(long index) {
    boolean isNews = index > seen && index <= last();
    seen = isNews ? index : seen;
    return isNews;
  }

  long seen() {
    return seen;
  }
}
