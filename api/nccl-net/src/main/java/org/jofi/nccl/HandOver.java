package org.jofi.nccl;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * Requests of a communicator that NCCL's thread leaves to the thread that drives its endpoint: that
 * posts them and finds out when they are over. A post takes system calls, and post and test alike
 * would wait for the end of a round of that thread. NCCL's thread serves all communicators, one
 * after the other, so what it waits for one it waits for all.
 *
 * <p>Requests keep their order. One thread at a time adds and asks, and one at a time drives. It
 * allocates nothing after its construction, unless a request fails.
 */
final class HandOver implements Runnable {
  /** The id of requests that are handed over. */
  static final long HANDED_OVER = Long.MIN_VALUE;

  private static final long REFUSED = Long.MIN_VALUE + 1;
  private static final long PATIENCE_NS = 1_000_000_000;
  private static final int MASK = RequestTable.CAPACITY - 1;

  private final Requester requester;
  private final AtomicLong added = new AtomicLong();
  private final AtomicLong posted = new AtomicLong();
  private final AtomicBoolean driven = new AtomicBoolean();

  /** By order; written before {@link #added}. */
  private final int[] slots = new int[RequestTable.CAPACITY];

  /** By slot. */
  private final AtomicLongArray results = new AtomicLongArray(RequestTable.CAPACITY);

  /** By slot; written before the results. */
  private final @Nullable RuntimeException[] refusals =
      new @Nullable RuntimeException[RequestTable.CAPACITY];

  private final @Nullable String[] failures = new @Nullable String[RequestTable.CAPACITY];

  /** The transport's ids of what is posted, and their slots, in order. By who drives. */
  private final long[] ids = new long[RequestTable.CAPACITY];

  private final int[] underWay = new int[RequestTable.CAPACITY];
  private volatile int count;
  private volatile boolean ended;

  /** Makes requests of what was left in a slot of the request table. */
  interface Requester {
    /**
     * Posts it.
     *
     * @return the transport's id, or {@link Result#TRY_AGAIN}
     * @throws RuntimeException if the transport refuses it
     */
    long post(int slot);

    /** Tests it, as the transport does. */
    long test(int slot, long id);

    /** Why it failed. */
    String explain(int slot, long id, long result);
  }

  HandOver(Requester requester) {
    this.requester = requester;
  }

  /** Whether everything is posted. */
  boolean isEmpty() {
    return posted.getAcquire() == added.getPlain();
  }

  /** Adds what is in a slot; there are no more slots than there is room. */
  void add(int slot) {
    results.setPlain(slot, Result.IN_PROGRESS);
    long at = added.getPlain();
    slots[(int) at & MASK] = slot;
    added.setRelease(at + 1);
  }

  /** Posts what was added, as far as the transport has room, and tests; if no other thread does. */
  @Override
  public void run() {
    if ((count == 0 && posted.getPlain() == added.getAcquire())
        || !driven.compareAndSet(false, true)) {
      return;
    }
    try {
      if (!ended) {
        post();
        test();
      }
    } finally {
      driven.setRelease(false);
    }
  }

  private void post() {
    long end = added.getAcquire();
    for (long at = posted.getPlain(); at < end; at++) {
      int slot = slots[(int) at & MASK];
      try {
        long id = requester.post(slot);
        if (id == Result.TRY_AGAIN) {
          return;
        }
        int last = count;
        ids[last] = id;
        underWay[last] = slot;
        count = last + 1;
      } catch (RuntimeException refused) {
        refuse(slot, refused);
      }
      posted.setRelease(at + 1);
    }
  }

  private void test() {
    int left = 0;
    int all = count;
    for (int at = 0; at < all; at++) {
      int slot = underWay[at];
      long id = ids[at];
      if (!isOver(slot, id)) {
        underWay[left] = slot;
        ids[left] = id;
        left++;
      }
    }
    if (left != all) {
      count = left;
    }
  }

  private boolean isOver(int slot, long id) {
    try {
      long result = requester.test(slot, id);
      if (result == Result.IN_PROGRESS) {
        return false;
      }
      failures[slot] = result < 0 ? requester.explain(slot, id, result) : null;
      results.setRelease(slot, result);
    } catch (RuntimeException refused) {
      // The thread that drives must not end by it, or nobody would drive the others.
      refuse(slot, refused);
    }
    return true;
  }

  private void refuse(int slot, RuntimeException why) {
    refusals[slot] = why;
    results.setRelease(slot, REFUSED);
  }

  /**
   * What a request that was added in a slot came to, or {@link Result#IN_PROGRESS}. By the thread
   * that adds.
   *
   * @throws RuntimeException if the transport refused it
   */
  long result(int slot) {
    long result = results.getAcquire(slot);
    RuntimeException refused = refusals[slot];
    if (result == REFUSED && refused != null) {
      refusals[slot] = null;
      throw refused;
    }
    return result;
  }

  /** Why the request in a slot failed, whose result says that it did. */
  String failure(int slot) {
    String why = failures[slot];
    return why == null ? "" : why;
  }

  /**
   * Posts and tests no more, when this returns; unless the thread that drives does not come back,
   * which closing the communicator finds out as well.
   */
  void end() {
    ended = true;
    long start = System.nanoTime();
    while (driven.get() && System.nanoTime() - start < PATIENCE_NS) {
      Thread.yield();
    }
  }
}
