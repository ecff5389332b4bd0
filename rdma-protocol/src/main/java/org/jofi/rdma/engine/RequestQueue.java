package org.jofi.rdma.engine;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one kind (messages, one-sided operations or flushes) at one end of a connection,
 * and how they fail: a single request at its time limit, or all of them when the queue fails. Used
 * with the endpoint's lock held.
 *
 * <p><b>A failed message fails its queue.</b> The peer waits for data that will never arrive, so no
 * later message can be relied on. Requests in flight fail, and later ones fail at once, all with
 * the cause. A one-sided operation or a flush fails alone, since the peer does not wait for it.
 *
 * <p><b>A peer's close cuts nothing off that may have arrived.</b> A peer closes when it has what
 * it wanted, and its memory stays registered until the operations posted here have completed. A
 * request whose operations are all posted ends as they do; a request that has to post more fails.
 */
public abstract class RequestQueue {
  /** Slots for requests that fail at once, beside those that may still be with a provider. */
  private static final int SPARE = 16;

  private final PeerLink link;
  private final RequestTable table;
  private final BySlot<Request> requests = new BySlot<>(slot -> new Request(this, slot));
  private final int most;
  private @Nullable Failure failure;
  private Runnable listener = () -> {};
  private int busy;
  private boolean heard;
  private boolean peerDone;
  private boolean peerVanished;

  /**
   * @param first slot of the kind's range, as {@link RequestTable} names it
   * @param most requests at once
   */
  RequestQueue(PeerLink link, int first, int most) {
    this.link = link;
    this.most = most;
    table = new RequestTable(first, most + SPARE);
  }

  final PeerLink link() {
    return link;
  }

  final RequestTable table() {
    return table;
  }

  /** The request of a slot. */
  final Request request(int slot) {
    return requests.get(slot);
  }

  /** Whether a request waits for the peer: its processor, or its NIC, or what does its work. */
  public boolean waits() {
    return failure == null && isActive();
  }

  /** A request is over; reported already. */
  void ended(Request request) {
    // Nothing of most is kept but their slot.
  }

  /** Whether a request's failure is one of all. */
  boolean failsWith(Failure why) {
    return true;
  }

  /** Whether {@link #begin} has nothing to give. */
  final boolean isFull() {
    return table.inUse() >= most;
  }

  /** Takes a slot for a request, or {@link RequestTable#NONE}. */
  final int begin() {
    return isFull() ? RequestTable.NONE : table.begin();
  }

  /** A request that failed before it began, or {@link Result#TRY_AGAIN}. */
  final long failed(Failure why) {
    int slot = table.begin();
    if (slot == RequestTable.NONE) {
      return Result.TRY_AGAIN;
    }
    table.fail(slot, why);
    return table.id(slot);
  }

  /** As {@link #failed(Failure)}, for a request that uses a registration: its use ends. */
  final long failed(Failure why, DataRegistration registration) {
    long id = failed(why);
    if (id != Result.TRY_AGAIN) {
      registration.endUse();
    }
    return id;
  }

  /**
   * A request that failed because its memory is not registered any more, so that no use of it could
   * begin; or {@link Result#TRY_AGAIN}.
   */
  public final long refuse(String operation) {
    return failed(deregistered(operation));
  }

  static Failure deregistered(String operation) {
    return new Failure(
        FailureCause.CLOSED,
        0,
        operation,
        "its memory is not registered any more: it was given back, forgotten or freed");
  }

  /** What a message is that does not fit into its receive. */
  final Failure tooLong(String operation, long lengthBytes, long roomBytes) {
    return new Failure(
        FailureCause.TRUNCATED,
        0,
        "%s, %s".formatted(operation, link.describePeer()),
        "a message of %d bytes, and a receive of %d: do both sides compute the same sizes?"
            .formatted(lengthBytes, roomBytes));
  }

  static Failure timedOut(String where, String missing, long boundNs) {
    return new Failure(
        FailureCause.TIMED_OUT,
        0,
        where,
        "after %d ms: %s".formatted(boundNs / 1_000_000, missing));
  }

  final void began() {
    busy++;
  }

  final void becameQuiet() {
    busy--;
  }

  final void over(Request request, @Nullable Failure why) {
    if (why == null) {
      table.succeed(request.slot(), request.strategy().movedBytes());
    } else {
      table.fail(request.slot(), why);
    }
    ended(request);
    if (why != null && failsWith(why)) {
      fail(why);
    }
  }

  /** Whether an id is of a request of this kind, stale or not. */
  public final boolean owns(long request) {
    return table.owns(request);
  }

  /** How a request fares; without progress, which is the endpoint's. */
  public final long test(long request) {
    return table.test(request);
  }

  /** Begins to list requests as they become over, or stops. */
  final void list(boolean on) {
    table.list(on);
  }

  /** Whether any is listed. */
  final boolean hasOver() {
    return table.hasOver();
  }

  /** The next listed request that is over; 0 if there is none. */
  final long firstOver() {
    return table.firstOver();
  }

  /** Whether a request may still use its memory: it is not over, or its operations are not. */
  public final boolean usesMemory(long request) {
    return table.usesMemory(request);
  }

  /** How a request failed, or null. */
  public final @Nullable Failure failure(long request) {
    return table.failure(request);
  }

  /** Why it failed; null while it works. */
  public final @Nullable Failure failure() {
    return failure;
  }

  /** Sets the action to run once when the queue fails. It may run while a queue delivers. */
  public final void onFailure(Runnable told) {
    listener = told;
  }

  /**
   * Fails what is in flight and all that is posted from now on. What is in flight is reported once
   * its operations are back, or at its bound; at once if the peer is lost. If the peer closed, what
   * {@linkplain RequestStrategy#endsByItself ends by itself} may still succeed.
   */
  public final void fail(Failure why) {
    if (failure != null) {
      return;
    }
    failure = why;
    boolean atOnce = why.cause() == FailureCause.PEER_LOST;
    boolean gently = why.cause() == FailureCause.PEER_CLOSED;
    for (int slot = 0; slot < table.used(); slot++) {
      if (table.isActive(slot)) {
        if (atOnce) {
          request(slot).expire(why);
        } else if (!gently || !request(slot).strategy().endsByItself()) {
          request(slot).fail(why);
        }
      }
    }
    hurry();
    listener.run();
  }

  /** It failed: what it has under way besides its requests is to come to its end. */
  void hurry() {
    // Most have nothing.
  }

  /** Fails it, unless it failed before, and reports what is in flight now, with its cause. */
  public final void expire(Failure why) {
    fail(why);
    Failure ofAll = failure;
    for (int slot = 0; slot < table.used(); slot++) {
      if (table.isActive(slot)) {
        request(slot).expire(ofAll == null ? why : ofAll);
      }
    }
  }

  /** Fails the requests whose bound passed; any clock, the same in each call. */
  public void check(long now, long boundNs) {
    for (int slot = 0; slot < table.used(); slot++) {
      if (table.isActive(slot)) {
        request(slot).check(now, boundNs);
      }
    }
  }

  /** Whether no operation of it is with a provider, and none will be posted. */
  public final boolean isQuiet() {
    return busy == 0;
  }

  /** Whether requests are in flight. */
  final boolean isActive() {
    return table.active() > 0;
  }

  /** The peer's operations are back, or it is gone: it reaches no memory any more. */
  public final void peerDone() {
    peerDone = true;
    for (int slot = 0; slot < table.used(); slot++) {
      request(slot).settle();
    }
  }

  /**
   * The peer is not waited for any more. It may be alive, and write into what was announced to it:
   * so the regions of that are closed with their last lease.
   */
  public final void peerVanished() {
    peerVanished = true;
    peerDone();
  }

  /** Whether the peer may write into memory of a request. */
  final boolean isExposed() {
    for (int slot = 0; slot < table.used(); slot++) {
      if (request(slot).isExposed()) {
        return true;
      }
    }
    return false;
  }

  /** Whether nobody knows that the peer's operations are back. */
  final boolean hasPeerVanished() {
    return peerVanished;
  }

  final boolean isPeerDone() {
    return peerDone;
  }

  /** The endpoint is gone: fails what is left, and ends every lease. */
  public final void abandon(Failure why) {
    peerDone = true;
    fail(why);
    for (int slot = 0; slot < table.used(); slot++) {
      request(slot).abandon(why);
    }
  }

  final void hear() {
    heard = true;
  }

  /** Whether something of the peer was found since this was asked last. */
  public final boolean wasHeard() {
    boolean since = heard;
    heard = false;
    return since;
  }
}
