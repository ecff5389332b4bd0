package org.jofi.async;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * Requests of one kind of a communicator, which are posted in the order in which they came: its
 * messages, or all others.
 */
final class Lane {
  final OwnedComm comm;
  private final int capacity;

  /** One for each request from its submission until it is posted, or ends before. */
  private final Semaphore room;

  // By the driver's thread alone, as the next.
  private final Deque<Transfer> waiting = new ArrayDeque<>();

  /** Whether the driver has it among those to try again. */
  boolean isStalled;

  Lane(OwnedComm comm, int capacity) {
    this.comm = comm;
    this.capacity = capacity;
    room = new Semaphore(capacity, true);
  }

  int capacity() {
    return capacity;
  }

  /** On any thread: waits for room for one more. */
  boolean enter(long nanos) throws InterruptedException {
    // Nobody overtakes those that wait.
    return (!room.hasQueuedThreads() && room.tryAcquire())
        || (nanos > 0 && room.tryAcquire(nanos, TimeUnit.NANOSECONDS));
  }

  void leave() {
    room.release();
  }

  void add(Transfer transfer) {
    waiting.add(transfer);
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  boolean remove(Transfer transfer) {
    return waiting.remove(transfer);
  }

  /** Posts so many at most, as long as there is room below; how many it posted. */
  int post(int most) {
    for (int posted = 0; posted < most; posted++) {
      Transfer next = waiting.peek();
      if (next == null || !next.post()) {
        return posted;
      }
      waiting.remove();
    }
    return most;
  }

  void refuseAll(TransportException why) {
    for (@Nullable Transfer next = waiting.poll(); next != null; next = waiting.poll()) {
      next.refuse(why);
    }
  }
}
