package org.jofi.rdma.request;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jofi.transport.driven.RequestId;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one kind (messages, one-sided operations or flushes) at one end of a connection,
 * and how they fail: a single request at its time limit, or all of them when the queue fails. Used
 * with the endpoint's lock held. Nothing is allocated per request, except while more are in use at
 * once than ever before.
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
  /** First slot of sends and receives, so that ids of two kinds never meet. */
  public static final int MESSAGES = 0;

  /** First slot of one-sided writes and reads. */
  public static final int ONE_SIDED = 512;

  /** First slot of flushes. */
  public static final int FLUSHES = 1024;

  /** No request, and no code of {@link Result} that these calls give. */
  protected static final long TO_POST = 0;

  /** Slots for requests that fail at once, beside those that may still be with a provider. */
  private static final int SPARE = 16;

  public final PeerLink link;
  private final int first;
  private final int most;
  private final List<Request> requests = new ArrayList<>();

  private final ArrayDeque<Request> free = new ArrayDeque<>();

  /** Those that became over, oldest first, while that is listed. Some were tested since. */
  private final ArrayDeque<Request> over = new ArrayDeque<>(1);

  private boolean lists;
  private int inUse;
  private int active;

  private @Nullable Failure failure;
  private int activeAtFailure;
  private @Nullable RequestWatch watch;
  private Runnable listener = () -> {};

  public RequestQueue(PeerLink link, int first, int most) {
    assert most + SPARE <= ONE_SIDED : most;
    this.link = link;
    this.first = first;
    this.most = most;
  }

  /** Whether a request waits for the peer: its processor, or its NIC, or what does its work. */
  public boolean waits() {
    return failure == null && active > 0;
  }

  public void ended(Request request) {}

  /** Whether a request's failure is one of all. */
  public boolean failsWith(Failure why) {
    return true;
  }

  /** Those that are not over. */
  public final int running() {
    return active;
  }

  public final boolean isFull() {
    return inUse >= most;
  }

  /** Makes the strategy with which the request of a slot begins; once, when it is used first. */
  protected abstract RequestStrategy firstStrategy(Request request);

  /** Begins a request of a free slot; for callers that know that it is not full. */
  public final RequestStrategy begin() {
    Request request = free.pollLast();
    if (request == null) {
      request = new Request(this, first + requests.size());
      requests.add(request);
    }
    inUse++;
    active++;
    return request.take();
  }

  /** A request that failed before it began, or {@link Result#TRY_AGAIN}. */
  public final long failed(Failure why) {
    if (free.isEmpty() && requests.size() == most + SPARE) {
      return Result.TRY_AGAIN;
    }
    Request request = begin().request;
    request.end(why.cause().code(), why);
    return request.id();
  }

  /** What a post comes to for which nothing can be begun now; else {@link #TO_POST}. */
  protected final long unposted() {
    Failure broken = failure;
    return broken != null ? failed(broken) : isFull() ? Result.TRY_AGAIN : TO_POST;
  }

  public static Failure deregistered(String operation) {
    return new Failure(
        FailureCause.CLOSED,
        0,
        operation,
        "its memory is not registered any more: it was given back, forgotten or freed");
  }

  public final Failure tooLong(String operation, long lengthBytes, long roomBytes) {
    return new Failure(
        FailureCause.TRUNCATED,
        0,
        "%s, %s".formatted(operation, link.describePeer()),
        "a message of %d bytes, and a receive of %d: do both sides compute the same sizes?"
            .formatted(lengthBytes, roomBytes));
  }

  public static Failure timedOut(String where, String missing, long boundNs) {
    return new Failure(
        FailureCause.TIMED_OUT,
        0,
        where,
        "after %d ms: %s".formatted(boundNs / 1_000_000, missing));
  }

  public final void over(Request request, @Nullable Failure why) {
    becameOver(request);
    ended(request);
    if (why != null && failsWith(why)) {
      fail(why);
    }
  }

  public final void becameOver(Request request) {
    active--;
    Failure why = request.failure();
    if (why != null) {
      link.endpoint.counters().failed(why);
    }
    if (watch != null) {
      watch.over(request);
    }
    list(request);
  }

  private void list(Request request) {
    if (lists && !request.listed) {
      request.listed = true;
      over.addLast(request);
    }
  }

  public final void freed(Request request) {
    inUse--;
    free.addLast(request);
  }

  /** A request is no more, as if it had never begun. */
  public final void takeBack(Request request) {
    active--;
    if (watch != null) {
      watch.over(request);
    }
    request.takeBack();
  }

  /** Whether an id is of a request of this kind, stale or not. */
  public final boolean owns(long request) {
    int slot = RequestId.slot(request) - first;
    return request > 0 && slot >= 0 && slot < most + SPARE;
  }

  /** The request that had that id last in its slot; null if it is stale or none. */
  public final @Nullable Request last(long id) {
    int slot = RequestId.slot(id) - first;
    Request request = slot < 0 || slot >= requests.size() ? null : requests.get(slot);
    return request == null || request.id() != id ? null : request;
  }

  /** The request of an id, of which its caller does not know how it ended; null if it is stale. */
  public final @Nullable Request find(long id) {
    Request request = last(id);
    return request == null || !request.isKnown() ? null : request;
  }

  /** A request that succeeded, until its slot is used again; else null. */
  public final @Nullable Request succeeded(long id) {
    Request request = last(id);
    return request == null || request.isRunning() || request.failure() != null ? null : request;
  }

  /** How a request fares; without progress, which is the endpoint's. */
  public final long test(long id) {
    Request request = find(id);
    return request == null ? Result.STALE_REQUEST : request.test();
  }

  /** Begins to list requests as they become over, or stops; those that are over come first. */
  public final void list(boolean on) {
    lists = on;
    over.clear();
    for (Request request : requests) {
      request.listed = false;
      if (request.isOver()) {
        list(request);
      }
    }
  }

  public final boolean hasOver() {
    return !over.isEmpty();
  }

  /** The id of the request that is over for longest and was not tested, if listed; else 0. */
  public final long firstOver() {
    for (Request request = over.pollFirst(); request != null; request = over.pollFirst()) {
      request.listed = false;
      if (request.isOver()) {
        return request.id();
      }
    }
    return 0;
  }

  /** Whether a request may still use its memory: it is not over, or its operations are not. */
  public final boolean usesMemory(long id) {
    Request request = last(id);
    return request != null && request.usesMemory();
  }

  /** How a request failed, until its slot is used again; null if it did not, or is forgotten. */
  public final @Nullable Failure failure(long id) {
    Request request = last(id);
    return request == null || request.isRunning() ? null : request.failure();
  }

  public final @Nullable Failure failure() {
    return failure;
  }

  public final int activeAtFailure() {
    return activeAtFailure;
  }

  /** Sets who is told of its requests from now on. */
  public final void watch(RequestWatch by) {
    watch = by;
  }

  final void matched(Request request) {
    if (watch != null) {
      watch.matched(request.id());
    }
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
    activeAtFailure = active;
    boolean atOnce = why.cause() == FailureCause.PEER_LOST;
    boolean gently = why.cause() == FailureCause.PEER_CLOSED;
    for (int slot = 0; slot < requests.size(); slot++) {
      Request request = requests.get(slot);
      if (request.isRunning()) {
        if (atOnce) {
          request.expire(why);
        } else if (!gently || !request.strategy().endsByItself()) {
          request.fail(why);
        }
      }
    }
    hurry();
    listener.run();
  }

  /** It failed: what it has under way besides its requests is to come to its end. */
  public void hurry() {}

  /** Fails it, unless it failed before, and reports what is in flight now, with its cause. */
  public final void expire(Failure why) {
    fail(why);
    Failure ofAll = failure;
    requests.forEach(request -> request.expire(ofAll == null ? why : ofAll));
  }

  /** Fails the requests whose bound passed; any clock, the same in each call. */
  public void check(long now, long boundNs) {
    for (int slot = 0; slot < requests.size(); slot++) {
      requests.get(slot).check(now, boundNs);
    }
  }

  /** Whether no operation of it is with a provider, and none will be posted. */
  public boolean isQuiet() {
    for (int slot = 0; slot < requests.size(); slot++) {
      if (requests.get(slot).isBusy()) {
        return false;
      }
    }
    return true;
  }

  /** All that were ever used, by slot. */
  public final List<Request> all() {
    return requests;
  }

  /** Lets go of what the peer reached, and does not any more: {@link PeerLink#peerDone}. */
  public final void settle() {
    requests.forEach(Request::settle);
  }

  public final boolean isExposed() {
    return requests.stream().anyMatch(Request::isExposed);
  }

  /** The endpoint is gone: fails what is left, and ends every lease. */
  public final void abandon(Failure why) {
    link.peerDone = true;
    fail(why);
    requests.forEach(request -> request.abandon(why));
  }
}
