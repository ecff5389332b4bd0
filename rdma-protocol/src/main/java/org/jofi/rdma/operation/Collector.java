package org.jofi.rdma.operation;

/**
 * Lets things leave together: the first at once, and what follows before the next poll, or while a
 * rail takes nothing, with the next poll. There is no timer.
 */
public abstract class Collector extends Task {
  private static final long NEVER = -1;

  private final Tasks tasks;

  /** The round of polling in which something left last. */
  private long left = NEVER;

  public Collector(Tasks tasks) {
    this.tasks = tasks;
  }

  public abstract boolean isEmpty();

  /** Whether what left before has to be taken, or to be over, first. */
  public abstract boolean isHeldUp();

  public abstract void submit();

  /** What is collected leaves now, unless something left since the last poll. */
  public final void leave() {
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
