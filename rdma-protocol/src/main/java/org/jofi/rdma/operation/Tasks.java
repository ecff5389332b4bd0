package org.jofi.rdma.operation;

import java.util.ArrayDeque;

/**
 * The tasks of an endpoint that are not done; only this class tries them again. A task that is not
 * done goes to the end, so that a rail that accepts nothing does not block others.
 *
 * <p>What waits for the peer rather than for a rail is <em>watched</em>: it is asked in each round,
 * and holds up nobody.
 */
public final class Tasks {
  private final ArrayDeque<Task> waiting = new ArrayDeque<>(256);
  private final ArrayDeque<Task> watched = new ArrayDeque<>();
  private long rounds;

  public Tasks() {}

  /** Does at once what can be done if nothing else waits, and queues the rest. */
  public void submit(Task task) {
    if (task.queued) {
      return;
    }
    if (!waiting.isEmpty() || !task.advance()) {
      defer(task);
    }
  }

  /** Asks it in each {@link #run} from now on, until it is done. */
  public void watch(Task task) {
    add(watched, task);
  }

  /** Queues it for the next {@link #run}. For callers that are called while a queue delivers. */
  public void defer(Task task) {
    add(waiting, task);
  }

  private static void add(ArrayDeque<Task> queue, Task task) {
    if (!task.queued) {
      task.queued = true;
      queue.addLast(task);
    }
  }

  public long rounds() {
    return rounds;
  }

  public void run() {
    rounds++;
    tryEach(watched);
    tryEach(waiting);
  }

  private static void tryEach(ArrayDeque<Task> queue) {
    for (int left = queue.size(); left > 0; left--) {
      Task task = queue.removeFirst();
      task.queued = false;
      if (!task.advance()) {
        add(queue, task);
      }
    }
  }
}
