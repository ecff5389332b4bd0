package org.jofi.rdma.request;

import org.jspecify.annotations.Nullable;

/** Requests in the order in which they were posted; any of them can be taken out. */
public class StrategyList<T extends StrategyList.Listed<T>> {
  /** A strategy whose requests are in such a list. */
  public abstract static class Listed<T extends Listed<T>> extends RequestStrategy {
    @Nullable T previous;
    @Nullable T next;

    public Listed(Request request) {
      super(request);
    }

    /** The one after it; null if it is the last. */
    public final @Nullable T next() {
      return next;
    }
  }

  private @Nullable T head;
  private @Nullable T tail;

  public final boolean isEmpty() {
    return head == null;
  }

  public final int size() {
    int size = 0;
    for (T each = head; each != null; each = each.next()) {
      size++;
    }
    return size;
  }

  /** The oldest; null if there is none. */
  public final @Nullable T first() {
    return head;
  }

  public void add(T request) {
    T last = tail;
    request.previous = last;
    request.next = null;
    if (last == null) {
      head = request;
    } else {
      last.next = request;
    }
    tail = request;
  }

  public void remove(T request) {
    T before = request.previous;
    T after = request.next;
    if (before == null) {
      head = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      tail = before;
    } else {
      after.previous = before;
    }
    request.previous = null;
    request.next = null;
  }
}
