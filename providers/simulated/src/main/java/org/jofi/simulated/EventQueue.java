package org.jofi.simulated;

import java.util.ArrayDeque;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * What is due, by time, and at one time in the order in which it was added. Used under the
 * network's lock, but for {@link #nextDue}, which any thread may ask.
 */
final class EventQueue {
  /** No event is due, ever. */
  static final long NEVER = Long.MAX_VALUE;

  private final PriorityQueue<Event> queue = new PriorityQueue<>(256);
  private final ArrayDeque<Event> free = new ArrayDeque<>();
  private long added;
  private volatile long nextDue = NEVER;

  /** Adds an event. */
  void add(long at, Stage stage, Transfer transfer) {
    add(at, added++, stage, transfer);
  }

  /** Adds a transfer's last event again, for later, ahead of all that was added after it. */
  void postpone(long at, Stage stage, Transfer transfer) {
    add(at, transfer.order, stage, transfer);
  }

  private void add(long at, long order, Stage stage, Transfer transfer) {
    Event event = free.isEmpty() ? new Event() : free.removeLast();
    event.at = at;
    event.order = order;
    event.stage = stage;
    event.transfer = transfer;
    transfer.scheduled++;
    queue.add(event);
    if (at < nextDue) {
      nextDue = at;
    }
  }

  /** When the next event is due, or {@link #NEVER}. */
  long nextDue() {
    return nextDue;
  }

  /** Takes the next event if it is due by then; give it back with {@link #recycle}. */
  @Nullable Event takeDue(long now) {
    if (nextDue > now) {
      return null;
    }
    Event event = queue.poll();
    Event next = queue.peek();
    nextDue = next == null ? NEVER : next.at;
    return event;
  }

  /** Takes an event back that was carried out. */
  void recycle(Event event) {
    event.transfer = null;
    free.addLast(event);
  }

  /** How many events there are. */
  int size() {
    return queue.size();
  }
}
