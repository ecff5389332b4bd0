package org.jofi.rdma.endpoint;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which operation each context slot of a completion queue stands for. A slot is out from the post
 * until its completion was polled. Nothing is allocated after construction.
 */
final class ContextTable {
  /** {@link #take}: every slot is out. */
  static final int NONE = -1;

  private final @Nullable OperationOwner[] owners;
  private final long[] cookies;
  private final int[] free;
  private int available;

  ContextTable(int contexts) {
    owners = new @Nullable OperationOwner[contexts];
    cookies = new long[contexts];
    free = new int[contexts];
    Arrays.setAll(free, index -> contexts - 1 - index);
    available = contexts;
  }

  /** Takes a slot for an operation, or {@link #NONE}. */
  int take(OperationOwner owner, long cookie) {
    if (available == 0) {
      return NONE;
    }
    int context = free[--available];
    owners[context] = owner;
    cookies[context] = cookie;
    return context;
  }

  /** What the slot's operation was posted with; of a slot that is out. */
  long cookie(int context) {
    return cookies[context];
  }

  /** Gives a slot back; whose it was, or null if it is not out, or no slot at all. */
  @Nullable OperationOwner give(int context) {
    if (context < 0 || context >= owners.length) {
      return null;
    }
    OperationOwner owner = owners[context];
    if (owner != null) {
      owners[context] = null;
      free[available++] = context;
    }
    return owner;
  }

  /** Whose the slot is; null if it is not out. */
  @Nullable OperationOwner owner(int context) {
    return owners[context];
  }

  /** Slots that there are. */
  int size() {
    return owners.length;
  }

  /** Slots that are out. */
  int taken() {
    return owners.length - available;
  }
}
