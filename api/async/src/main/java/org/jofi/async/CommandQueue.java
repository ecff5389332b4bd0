package org.jofi.async;

import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Commands of any thread, for the driver's. Between two polls of a quiet network that one waits
 * here, so that a command wakes it at once. docs/PERFORMANCE.md says why the queue is the JDK's.
 */
final class CommandQueue {
  private final BlockingQueue<Command> queue;

  /** Those that must not wait for room: there are few, as each has a thread or a communicator. */
  private final Queue<Command> beyond = new ConcurrentLinkedQueue<>();

  CommandQueue(int capacity) {
    queue = new ArrayBlockingQueue<>(capacity);
  }

  /** Waits for room; false if there is none in time. */
  boolean offer(Command command, long nanos) throws InterruptedException {
    return queue.offer(command) || queue.offer(command, nanos, TimeUnit.NANOSECONDS);
  }

  /** Adds it without waiting. */
  void push(Command command) {
    if (!queue.offer(command)) {
      beyond.add(command);
      // It may have been emptied since, by a thread that then waits.
      queue.offer(Command.LOOK);
    }
  }

  /**
   * How many to take before the one that found no room; 0 if there is no such. By the driver's
   * thread alone, as all that follow. What the same thread gave before is among them.
   */
  int beforeTheNextBeyond() {
    return beyond.isEmpty() ? 0 : queue.size();
  }

  /** The one that found no room first; null if there is none. */
  @Nullable Command pollBeyond() {
    return beyond.poll();
  }

  /** The next one; null if there is none. */
  @Nullable Command poll() {
    Command next = queue.poll();
    return next == null ? beyond.poll() : next;
  }

  /** The next one; null if none comes in that time. */
  @Nullable Command poll(long nanos) throws InterruptedException {
    Command next = queue.poll(nanos, TimeUnit.NANOSECONDS);
    return next == null ? beyond.poll() : next;
  }
}
