package org.jofi.rdma.request;

import org.jspecify.annotations.Nullable;

/** Requests in the order in which they were posted; any of them can be taken out. */
public class StrategyList<T extends ListedStrategy<T>> {
  private @Nullable T head;
  private @Nullable T tail;

  public final boolean isEmpty() {
    return head == null;
  }

  /** The oldest; null if there is none. */
  public final @Nullable T first() {
    return head;
  }

  public void add(T request) {
    T last = tail;
    request.link(last, null);
    if (last == null) {
      head = request;
    } else {
      last.link(last.previous(), request);
    }
    tail = request;
  }

  /** Removes one that is in it. */
  public void remove(T request) {
    T before = request.previous();
    T after = request.next();
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
    request.link(null, null);
  }
}
