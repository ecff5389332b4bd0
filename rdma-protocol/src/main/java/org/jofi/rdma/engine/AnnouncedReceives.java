package org.jofi.rdma.engine;

import org.jofi.rdma.sequence.ReceiveIndices;
import org.jofi.rdma.sequence.ReceiveWindow;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MailboxLayout;
import org.jspecify.annotations.Nullable;

/**
 * The receives that have an index, and with it an entry in the mailbox. An entry that a short
 * message made useless is not used again before the sender is known to have seen it, since it looks
 * at them one after the other.
 */
final class AnnouncedReceives {
  private final ReceiveWindow window = new ReceiveWindow();
  private final @Nullable IncomingReceive[] inFlight =
      new @Nullable IncomingReceive[MailboxLayout.ENTRIES];

  /** Places of entries whose receives are over, and that the sender may not have seen. */
  private final long[] unread = new long[MailboxLayout.ENTRIES / Long.SIZE];

  private int unreadCount;

  /** The last receive that the sender is known to have seen. */
  private long seen;

  boolean hasRoom(int entries) {
    return window.hasRoom(entries);
  }

  /** Gives a receive its entries; the index of the first. */
  long add(IncomingReceive receive, int entries) {
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
  @Nullable IncomingReceive inFlight(long index) {
    return window.isInFlight(index) ? inFlight[ReceiveWindow.slot(index)] : null;
  }

  /** The index that immediate data is for, or {@link ReceiveIndices#OUTSIDE}. */
  long indexOf(int immediate) {
    return window.inFlight(ImmediateData.indexBits(immediate));
  }

  /** A receive is over. */
  void remove(IncomingReceive receive) {
    long first = receive.index();
    for (long index = first; index < first + receive.indices(); index++) {
      inFlight[ReceiveWindow.slot(index)] = null;
      if (index > seen && receive.isTaken(receive.sub(index))) {
        mark(index, true);
      } else {
        complete(index);
      }
    }
  }

  /** Whether the entry of a receive that is over may not have been seen. */
  boolean isUnread(long index) {
    int slot = ReceiveWindow.slot(index);
    return window.isInFlight(index) && (unread[slot / Long.SIZE] & 1L << slot) != 0;
  }

  /** The sender has seen all receives up to that one; whether entries are free again by that. */
  boolean saw(long index) {
    if (index <= seen || index > last()) {
      return false;
    }
    seen = index;
    return forgetSeen();
  }

  long seen() {
    return seen;
  }

  private boolean forgetSeen() {
    int before = unreadCount;
    for (long index = window.oldest(); unreadCount > 0 && index <= seen; index++) {
      if (isUnread(index)) {
        mark(index, false);
        complete(index);
      }
    }
    return unreadCount < before;
  }

  private void mark(long index, boolean value) {
    int slot = ReceiveWindow.slot(index);
    if (value) {
      unread[slot / Long.SIZE] |= 1L << slot;
      unreadCount++;
    } else {
      unread[slot / Long.SIZE] &= ~(1L << slot);
      unreadCount--;
    }
  }

  private void complete(long index) {
    boolean wasInFlight = window.complete(index);
    assert wasInFlight : index;
  }
}
