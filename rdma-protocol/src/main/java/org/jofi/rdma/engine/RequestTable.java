package org.jofi.rdma.engine;

import java.util.Arrays;
import org.jofi.transport.Failure;
import org.jofi.transport.RequestId;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one kind of one communicator: ids, and how each fares. Nothing is allocated per
 * request, except that the table grows while more are in use at once than ever before. Each kind
 * has a range of slots of its own, so that ids of two kinds never meet.
 *
 * <pre>
 * FREE -- begin --&gt; ACTIVE -- succeed, fail --&gt; OVER -- test, unless kept --&gt; FREE
 *                     |                         |                          ^ ^
 *                     |                         +-- test --&gt; KEPT -- release |
 *                     +-- takeBack ---------------------------------------------+
 * </pre>
 *
 * <p>A slot is kept while operations of a request that was reported are with a provider.
 */
final class RequestTable {
  /** {@link #begin}: every slot is in use. */
  static final int NONE = -1;

  /** First slot of sends and receives. */
  static final int MESSAGES = 0;

  /** First slot of one-sided writes and reads. */
  static final int ONE_SIDED = 512;

  /** First slot of flushes. */
  static final int FLUSHES = 1024;

  private static final byte FREE = 0;
  private static final byte ACTIVE = 1;
  private static final byte OVER = 2;
  private static final byte KEPT = 3;

  /** Slots at first: most communicators are idle. */
  private static final int FEW = 16;

  private final int first;
  private final int most;
  private byte[] states;
  private boolean[] kept;
  private boolean[] memory;
  private long[] generations;
  private long[] results;
  private @Nullable Failure[] failures;
  private int[] free;
  private int available;
  private int active;
  private int used;
  // Slots that became over, oldest first, while that is listed; each once. Some were tested since.
  private int[] over = new int[0];
  private boolean[] listed = new boolean[0];
  private int overFrom;
  private int overCount;
  private boolean lists;

  /**
   * @param first where the kind's range starts
   * @param slots requests at once, 1 to {@link #ONE_SIDED}
   */
  RequestTable(int first, int slots) {
    assert slots <= ONE_SIDED && first + slots <= RequestId.MAX_SLOTS : slots;
    this.first = first;
    most = slots;
    int few = Math.min(slots, FEW);
    states = new byte[few];
    kept = new boolean[few];
    memory = new boolean[few];
    generations = new long[few];
    results = new long[few];
    failures = new @Nullable Failure[few];
    free = new int[few];
    offer(0, few);
  }

  /** Makes slots free; the first of them is taken first. */
  private void offer(int from, int to) {
    for (int slot = to - 1; slot >= from; slot--) {
      free[available++] = slot;
    }
  }

  private void grow() {
    int old = states.length;
    int more = Math.min(most, 2 * old);
    states = Arrays.copyOf(states, more);
    kept = Arrays.copyOf(kept, more);
    memory = Arrays.copyOf(memory, more);
    generations = Arrays.copyOf(generations, more);
    results = Arrays.copyOf(results, more);
    failures = Arrays.copyOf(failures, more);
    free = Arrays.copyOf(free, more);
    offer(old, more);
    if (lists) {
      growList();
    }
  }

  /** Takes a slot, or {@link #NONE}. */
  int begin() {
    if (available == 0) {
      if (states.length == most) {
        return NONE;
      }
      grow();
    }
    int slot = free[--available];
    used = Math.max(used, slot + 1);
    states[slot] = ACTIVE;
    active++;
    generations[slot]++;
    failures[slot] = null;
    return slot;
  }

  /** The id of a slot in use. */
  long id(int slot) {
    return RequestId.of(first + slot, generations[slot]);
  }

  /** Whether an id is of this kind, stale or not. */
  boolean owns(long request) {
    int slot = RequestId.slot(request) - first;
    return request > 0 && slot >= 0 && slot < most;
  }

  /** Whether an id is of the last request of its slot. */
  private boolean isLast(long request) {
    int slot = RequestId.slot(request) - first;
    return owns(request)
        && slot < states.length
        && generations[slot] == RequestId.generation(request);
  }

  /** The slot of an id; {@link #NONE} if it is stale or none. */
  int slot(long request) {
    int slot = RequestId.slot(request) - first;
    return isLast(request) && states[slot] != FREE && states[slot] != KEPT ? slot : NONE;
  }

  /** An active request is over, and moved so many bytes. */
  void succeed(int slot, long bytes) {
    assert states[slot] == ACTIVE : slot;
    states[slot] = OVER;
    active--;
    results[slot] = bytes;
    becameOver(slot);
  }

  /** An active request is over, and failed. */
  void fail(int slot, Failure failure) {
    assert states[slot] == ACTIVE : slot;
    states[slot] = OVER;
    active--;
    results[slot] = failure.cause().code();
    failures[slot] = failure;
    becameOver(slot);
  }

  /** Begins to list requests as they become over, or stops; those that are over come first. */
  void list(boolean on) {
    lists = on;
    overFrom = 0;
    overCount = 0;
    Arrays.fill(listed, false);
    if (on) {
      growList();
      for (int slot = 0; slot < used; slot++) {
        if (states[slot] == OVER) {
          becameOver(slot);
        }
      }
    }
  }

  private void growList() {
    int[] more = new int[states.length];
    for (int i = 0; i < overCount; i++) {
      more[i] = over[(overFrom + i) % over.length];
    }
    over = more;
    overFrom = 0;
    listed = Arrays.copyOf(listed, states.length);
  }

  private void becameOver(int slot) {
    if (lists && !listed[slot]) {
      listed[slot] = true;
      over[(overFrom + overCount++) % over.length] = slot;
    }
  }

  /** Whether any is listed, tested since or not. */
  boolean hasOver() {
    return overCount > 0;
  }

  /** The id of the request that is over for longest and was not tested, if listed; else 0. */
  long firstOver() {
    while (overCount > 0) {
      int slot = over[overFrom];
      overFrom = (overFrom + 1) % over.length;
      overCount--;
      listed[slot] = false;
      if (states[slot] == OVER) {
        return id(slot);
      }
    }
    return 0;
  }

  /** An active request is no more; its id is stale from now on. */
  void takeBack(int slot) {
    assert states[slot] == ACTIVE : slot;
    active--;
    free(slot);
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
    if (kept[slot]) {
      states[slot] = KEPT;
    } else {
      free(slot);
    }
    return results[slot];
  }

  private void free(int slot) {
    states[slot] = FREE;
    free[available++] = slot;
  }

  /** A slot in use is not to be used again before it is released. */
  void keep(int slot) {
    kept[slot] = true;
    memory[slot] = true;
  }

  /** The memory of a kept slot's request is used no more, though the slot still is. */
  void freeMemory(int slot) {
    memory[slot] = false;
  }

  /** Nothing keeps a slot any more. */
  void release(int slot) {
    kept[slot] = false;
    memory[slot] = false;
    if (states[slot] == KEPT) {
      free(slot);
    }
  }

  /** How a request failed, until its slot is used again; null if it did not, or is forgotten. */
  @Nullable Failure failure(long request) {
    int slot = RequestId.slot(request) - first;
    return isLast(request) ? failures[slot] : null;
  }

  /** Whether that request may still use its memory: it is not over, or its lease is not. */
  boolean usesMemory(long request) {
    int slot = RequestId.slot(request) - first;
    return isLast(request) && (states[slot] == ACTIVE || memory[slot]);
  }

  /** The slot of a request that is over and was reported, until it is used again; or NONE. */
  int reported(long request) {
    int slot = RequestId.slot(request) - first;
    return isLast(request) && states[slot] != ACTIVE && failures[slot] == null ? slot : NONE;
  }

  boolean isActive(int slot) {
    return states[slot] == ACTIVE;
  }

  /** Requests that are not over. */
  int active() {
    return active;
  }

  /** How many slots, the first ones, were ever begun. */
  int used() {
    return used;
  }

  /** Slots that were begun and are not free again. */
  int inUse() {
    return states.length - available;
  }
}
