package org.jofi.rdma.endpoint;

import java.util.ArrayDeque;

/**
 * The queue of operations that could not be posted yet; only this class retries them. An operation
 * that is refused again goes to the end, so that a rail that accepts nothing does not block others.
 *
 * <p>What waits for the peer rather than for a rail is <em>watched</em>: it is asked in each round,
 * and holds up nobody.
 */
public final class PendingPosts {
  private final ArrayDeque<Posting> waiting = new ArrayDeque<>(256);
  private final ArrayDeque<Posting> watched = new ArrayDeque<>();

  PendingPosts() {}

  /** Posts at once what is possible if nothing else waits, and queues the rest. */
  public void submit(Posting posting) {
    if (posting.queued) {
      return;
    }
    if (!waiting.isEmpty() || !posting.post()) {
      defer(posting);
    }
  }

  /** Asks it in each {@link #run} from now on, until nothing is left to post. */
  public void watch(Posting posting) {
    add(watched, posting);
  }

  /** Queues it for the next {@link #run}. For callers that are called while a queue delivers. */
  public void defer(Posting posting) {
    add(waiting, posting);
  }

  private static void add(ArrayDeque<Posting> queue, Posting posting) {
    if (!posting.queued) {
      posting.queued = true;
      queue.addLast(posting);
    }
  }

  /** Tries each once. */
  void run() {
    tryEach(watched);
    tryEach(waiting);
  }

  private static void tryEach(ArrayDeque<Posting> queue) {
    for (int left = queue.size(); left > 0; left--) {
      Posting posting = queue.removeFirst();
      posting.queued = false;
      if (!posting.post()) {
        add(queue, posting);
      }
    }
  }

  /** How many wait for a rail. */
  public int size() {
    return waiting.size();
  }
}
