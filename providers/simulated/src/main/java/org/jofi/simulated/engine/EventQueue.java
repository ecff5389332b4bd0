package org.jofi.simulated.engine;

import java.util.ArrayDeque;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Events sorted by time; those with the same time in the order in which they were added. Used under
 * the network's lock, except {@link #nextDue}, which any thread may call.
 */
final class EventQueue {
  /** The time of an event that never comes. */
  static final long NEVER = Long.MAX_VALUE;

  private final PriorityQueue<Event> queue = new PriorityQueue<>(256);
  private final ArrayDeque<Event> free = new ArrayDeque<>();
  private long added;
  private volatile long nextDue = NEVER;

  /** Adds an event. */
  void add(long at, Stage stage, Transfer transfer) {
    add(at, added++, stage, transfer);
  }

  /**
   * Adds a transfer's last event again for a later time. It keeps its place before events that were
   * added after it.
   */
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

  /** Takes the next event if it is due by this time. Give it back with {@link #recycle}. */
  @Nullable Event takeDue(long now) {
    if (nextDue > now) {
      return null;
    }
    Event event = queue.poll();
    Event next = queue.peek();
    nextDue = next == null ? NEVER : next.at;
    return event;
  }

  /** Returns an event to the pool after it was processed. */
  void recycle(Event event) {
    event.transfer = null;
    free.addLast(event);
  }

  /** How many events there are. */
  int size() {
    return queue.size();
  }
}
