package org.jofi.rdma.endpoint;

import java.util.ArrayDeque;

/**
 * The queue of operations that could not be posted yet; only this class retries them. An operation
 * that is refused again goes to the end, so that a rail that accepts nothing does not block others.
 */
public final class PendingPosts {
  private final ArrayDeque<Posting> waiting = new ArrayDeque<>(256);

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

  /** Queues it for the next {@link #run}. For callers that are called while a queue delivers. */
  public void defer(Posting posting) {
    if (!posting.queued) {
      posting.queued = true;
      waiting.addLast(posting);
    }
  }

  /** Tries each once. */
  void run() {
    for (int left = waiting.size(); left > 0; left--) {
      Posting posting = waiting.removeFirst();
      posting.queued = false;
      if (!posting.post()) {
        defer(posting);
      }
    }
  }

  /** How many wait. */
  public int size() {
    return waiting.size();
  }
}
