package org.jofi.rdma.engine;

import org.jspecify.annotations.Nullable;

/** The queued sends of a sender, in the order in which they were posted. */
final class SendQueue {
  private @Nullable QueuedSend head;
  private @Nullable QueuedSend tail;

  boolean isEmpty() {
    return head == null;
  }

  /** The oldest; null if there is none. */
  @Nullable QueuedSend first() {
    return head;
  }

  /** The oldest of a tag that has no receive; null if there is none. */
  @Nullable QueuedSend first(int tag) {
    QueuedSend send = head;
    while (send != null && (send.tag() != tag || send.index() != Announcements.NOWHERE)) {
      send = send.next();
    }
    return send;
  }

  void add(QueuedSend send) {
    QueuedSend last = tail;
    send.link(last, null);
    if (last == null) {
      head = send;
    } else {
      last.link(last.previous(), send);
    }
    tail = send;
  }

  /** Removes one that is in it. */
  void remove(QueuedSend send) {
    QueuedSend before = send.previous();
    QueuedSend after = send.next();
    if (before == null) {
      head = after;
    } else {
      before.link(before.previous(), after);
    }
    if (after == null) {
      tail = before;
    } else {
      after.link(before, after.next());
    }
    send.link(null, null);
  }
}
