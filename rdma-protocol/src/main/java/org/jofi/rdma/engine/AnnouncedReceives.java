package org.jofi.rdma.engine;

import org.jofi.rdma.sequence.ReceiveWindow;
import org.jofi.rdma.wire.MailboxLayout;

/**
 * The receives that have an index, and with it an entry in the mailbox. An entry is used again once
 * its receive is over and the sender is known to have seen it: a short message may have made it
 * useless, but the sender looks at one entry after the other.
 */
final class AnnouncedReceives extends ReceiveWindow<PostedReceive> {
  /** The last receive that the sender is known to have seen. */
  private long seen;

  /** Whether so many entries are free. */
  @Override
  public boolean hasRoom(int entries) {
    return super.hasRoom(entries) && last() + entries - MailboxLayout.ENTRIES <= seen;
  }

  long last() {
    return next() - 1;
  }

  void remove(PostedReceive receive) {
    long first = receive.index;
    for (long index = first; index < first + receive.indices; index++) {
      boolean wasInFlight = complete(index);
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
