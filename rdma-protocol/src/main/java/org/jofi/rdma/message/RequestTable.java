package org.jofi.rdma.message;

import java.util.Arrays;
import org.jofi.transport.Failure;
import org.jofi.transport.RequestId;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one communicator: ids, and how each fares. Nothing is allocated per request.
 *
 * <pre>
 * FREE -- begin --&gt; ACTIVE -- succeed, fail --&gt; OVER -- test --&gt; FREE
 * </pre>
 */
final class RequestTable {
  /** {@link #begin}: every slot is in use. */
  static final int NONE = -1;

  private static final byte FREE = 0;
  private static final byte ACTIVE = 1;
  private static final byte OVER = 2;

  private final byte[] states;
  private final long[] generations;
  private final long[] results;
  private final @Nullable Failure[] failures;
  private final int[] free;
  private int available;
  private int active;

  /**
   * @param slots requests at once, 1 to {@link RequestId#MAX_SLOTS}
   */
  RequestTable(int slots) {
    states = new byte[slots];
    generations = new long[slots];
    results = new long[slots];
    failures = new @Nullable Failure[slots];
    free = new int[slots];
    Arrays.setAll(free, index -> slots - 1 - index);
    available = slots;
  }

  /** Takes a slot, or {@link #NONE}. */
  int begin() {
    if (available == 0) {
      return NONE;
    }
    int slot = free[--available];
    states[slot] = ACTIVE;
    active++;
    generations[slot]++;
    failures[slot] = null;
    return slot;
  }

  /** The id of a slot in use. */
  long id(int slot) {
    return RequestId.of(slot, generations[slot]);
  }

  /** The slot of an id; {@link #NONE} if it is stale or none. */
  int slot(long request) {
    int slot = RequestId.slot(request);
    return request > 0
            && slot < states.length
            && generations[slot] == RequestId.generation(request)
            && states[slot] != FREE
        ? slot
        : NONE;
  }

  /** An active request is over, and moved so many bytes. */
  void succeed(int slot, long bytes) {
    assert states[slot] == ACTIVE : slot;
    states[slot] = OVER;
    active--;
    results[slot] = bytes;
  }

  /** An active request is over, and failed. */
  void fail(int slot, Failure failure) {
    assert states[slot] == ACTIVE : slot;
    states[slot] = OVER;
    active--;
    results[slot] = failure.cause().code();
    failures[slot] = failure;
  }

  /** As {@link org.jofi.transport.Comm#test} says, without progress. */
  long test(long request) {
    int slot = slot(request);
    if (slot == NONE) {
      return Result.STALE_REQUEST;
    }
    if (states[slot] == ACTIVE) {
      return Result.IN_PROGRESS;
    }
    states[slot] = FREE;
    free[available++] = slot;
    return results[slot];
  }

  /** How a request failed, until its slot is used again; null if it did not, or is forgotten. */
  @Nullable Failure failure(long request) {
    int slot = RequestId.slot(request);
    return request > 0 && slot < states.length && generations[slot] == RequestId.generation(request)
        ? failures[slot]
        : null;
  }

  boolean isActive(int slot) {
    return states[slot] == ACTIVE;
  }

  /** Requests that are not over. */
  int active() {
    return active;
  }

  /** Slots that there are. */
  int size() {
    return states.length;
  }

  /** Requests that were begun and not reported. */
  int inUse() {
    return states.length - available;
  }
}
