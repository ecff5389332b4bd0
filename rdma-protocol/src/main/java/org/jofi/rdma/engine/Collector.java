package org.jofi.rdma.engine;

import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Tasks;

/**
 * Lets things leave together: the first at once, and what follows before the next poll, or while a
 * rail takes nothing, with the next poll. There is no timer.
 */
abstract class Collector extends Task {
  private static final long NEVER = -1;

  private final Tasks tasks;

  /** The round of polling in which something left last. */
  private long left = NEVER;

  Collector(Tasks tasks) {
    this.tasks = tasks;
  }

  /** Whether nothing is collected. */
  abstract boolean isEmpty();

  /** Whether what left before has to be taken, or to be over, first. */
  abstract boolean isHeldUp();

  /** What is collected leaves, if anything is. */
  abstract void submit();

  /** What is collected leaves now, unless something left since the last poll. */
  final void leave() {
    if (isEmpty()) {
      return;
    }
    if (left == tasks.rounds() || isHeldUp()) {
      tasks.watch(this);
    } else {
      left = tasks.rounds();
      submit();
    }
  }

  @Override
  protected final boolean advance() {
    if (isEmpty()) {
      return true;
    }
    if (isHeldUp()) {
      return false;
    }
    left = tasks.rounds();
    submit();
    return true;
  }
}
