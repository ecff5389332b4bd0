package org.jofi.fabric;

/**
 * The queue in which operations report that they finished: fi_cq(3), format FI_CQ_FORMAT_DATA. Only
 * one thread at a time may use it and the endpoints bound to it.
 *
 * <p><b>Context slots.</b> An operation is posted with a slot, an {@code int} below the {@code
 * contexts} that the queue was opened with, and its completion names it. The caller allots slots: a
 * slot is in use from the moment a post returns 0 until the operation's completion is polled, even
 * if the operation was cancelled or failed. Each slot has the 64 bytes that fi_endpoint(3) requires
 * with FI_CONTEXT2.
 *
 * <p>Completions may be delivered in any order.
 */
public interface CompletionQueue extends AutoCloseable {

  /** The completion belongs to no local operation: for example, a peer's write arrived. */
  int NO_CONTEXT = -1;

  /** Receives what was polled. Must not call back into the queue. */
  interface Sink {
    /**
     * An operation finished, or a peer's write with immediate data arrived.
     *
     * @param context the slot it was posted with, or {@link #NO_CONTEXT}
     * @param flags {@link CompletionFlags}
     * @param lengthBytes bytes received; for arrivals of writes some providers report 0
     * @param data the immediate data, if {@link CompletionFlags#REMOTE_CQ_DATA} is set
     */
    void completed(int context, long flags, long lengthBytes, long data);

    /**
     * An operation failed.
     *
     * @param error valid only during the call: the queue uses it again
     */
    void failed(CompletionError error);
  }

  /**
   * Drives progress and delivers completions: fi_cq_read(3), fi_cq_readerr(3). Never waits. If
   * {@code sink} throws, the next poll delivers the completions that it has not been given yet.
   *
   * @param sink receives each completion, on this thread
   * @param limit most completions to deliver, at least 1
   * @return how many were delivered, 0 if nothing had finished; negative only if the queue itself
   *     is broken ({@code -EOVERRUN}, {@code -EIO})
   * @throws IllegalStateException if the queue is closed
   * @throws IllegalArgumentException if the limit is below 1
   */
  int poll(Sink sink, int limit);

  /** {@return how many context slots there are} */
  int contexts();

  /**
   * Closes it; a second call does nothing.
   *
   * @throws FabricException with {@code EBUSY} while endpoints are bound to it
   */
  @Override
  void close();
}
