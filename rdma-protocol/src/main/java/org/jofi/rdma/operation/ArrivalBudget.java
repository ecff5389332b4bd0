package org.jofi.rdma.operation;

import java.util.ArrayDeque;

/**
 * Room in the completion queues for what peers write. A queue that is not polled for a while fills
 * with arrivals, and one that overruns is lost with its rail. So a receive is announced only when
 * there is room for its arrival in each rail's queue, and waits otherwise.
 *
 * <p>Half of the room is for whoever comes first. A quarter is for connections that have nothing
 * announced, so that none waits for the peers of others. A quarter stays free, for stripes that
 * move to another rail, and for arrivals of receives that failed. Used with the endpoint's lock
 * held; nothing is allocated once it is in use.
 */
public final class ArrivalBudget {
  private final int common;
  private final int most;
  private final Tasks tasks;
  private final ArrayDeque<Share> waiting = new ArrayDeque<>();
  private int taken;

  public ArrivalBudget(int entries, Tasks tasks) {
    common = entries / 2;
    most = entries * 3 / 4;
    this.tasks = tasks;
  }

  /**
   * The share of one connection.
   *
   * @param announcer is posted when it has to wait and there may be room again; it takes what it
   *     can, and calls {@link Share#served} then
   */
  public Share share(Task announcer) {
    return new Share(announcer);
  }

  public final class Share {
    private final Task announcer;
    private int announced;
    private boolean waits;
    private boolean turn;

    private Share(Task announcer) {
      this.announcer = announcer;
    }

    /** Takes room for arrivals; false if there is none now: the announcer waits for its turn. */
    public boolean take(int arrivals) {
      int room = announced == 0 ? most : turn || waiting.isEmpty() ? common : 0;
      if (taken + arrivals > room) {
        if (!waits) {
          waits = true;
          waiting.addLast(this);
        }
        turn = false;
        return false;
      }
      taken += arrivals;
      announced += arrivals;
      return true;
    }

    /** Gives room back. May be called while a queue delivers. */
    public void give(int arrivals) {
      taken -= arrivals;
      announced -= arrivals;
      if (announced == 0 && waits) {
        tasks.defer(announcer);
      }
      serveNext();
    }

    /** It has announced all that it had. */
    public void served() {
      if (waits) {
        waits = false;
        waiting.remove(this);
      }
      turn = false;
      serveNext();
    }
  }

  private void serveNext() {
    Share next = taken < common ? waiting.pollFirst() : null;
    if (next != null) {
      next.waits = false;
      next.turn = true;
      tasks.defer(next.announcer);
    }
  }

  /** How many arrivals were announced and have not been taken in. */
  public int announced() {
    return taken;
  }
}
