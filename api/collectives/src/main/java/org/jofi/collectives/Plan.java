package org.jofi.collectives;

import org.jofi.transport.TransportException;

/**
 * An operation that is run again and again on the same memory, whose contents may change in
 * between. All ranks of the group run their plans of it equally often and in the same order. A run
 * allocates nothing. For the group's thread.
 */
public final class Plan implements AutoCloseable {
  private final Group group;
  private final Program program;
  private boolean running;
  private boolean closed;

  /** Of a program that has its memory. */
  Plan(Group group, Program program) {
    this.group = group;
    this.program = program;
  }

  /** {@return what it does} */
  public Collective collective() {
    return program.collective();
  }

  /** {@return the name of the algorithm that was chosen} */
  public String algorithm() {
    return program.choice().algorithm().name();
  }

  /** {@return why it was chosen, for people} */
  public String reason() {
    return program.choice().reason();
  }

  /**
   * Runs it: starts, and waits until it is over.
   *
   * @throws MismatchException if another rank does something else
   * @throws org.jofi.ranks.RankLostException if a rank is lost
   * @throws TransportException if a message failed, or nothing happened within the group's time
   *     limit
   * @throws IllegalStateException if the group failed before, or it is running or closed
   */
  public void run() {
    start();
    while (!poll()) {
      // A poll waits by itself.
    }
  }

  /**
   * Starts it. Other plans of the group may be under way, on other memory.
   *
   * @throws IllegalStateException if the group failed before, or it is running or closed
   */
  public void start() {
    if (running || closed) {
      throw new IllegalStateException(
          "%s %s".formatted(collective(), closed ? "is closed" : "is still under way"));
    }
    group.start(program);
    running = true;
  }

  /**
   * {@return whether it is over} It makes progress; if there is nothing to do, it lets others run.
   * It has to be called until it says so. Of several plans that are under way, each has to be
   * polled in turn: one does not move the others.
   *
   * @throws MismatchException if another rank does something else
   * @throws org.jofi.ranks.RankLostException if a rank is lost
   * @throws TransportException if a message failed, or nothing happened within the group's time
   *     limit
   * @throws IllegalStateException if it is not running, or the group failed before
   */
  public boolean poll() {
    if (!running) {
      throw new IllegalStateException(collective() + " was not started");
    }
    if (group.poll(program)) {
      running = false;
    }
    return !running;
  }

  /** Ends it; not while it is running, unless the group failed. A second call does nothing. */
  @Override
  public void close() {
    if (running && group.isUsable()) {
      throw new IllegalStateException(collective() + " is still under way");
    }
    if (!closed && group.isUsable()) {
      program.close();
    }
    closed = true;
  }
}
