package org.jofi.rdma.nic;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which operation each of some context slots of a completion queue stands for. A slot is out from
 * the post until its completion was polled. Nothing is allocated after construction.
 */
public final class ContextTable {
  /** {@link #take}: every slot is out. */
  public static final int NONE = -1;

  private final int first;
  private final @Nullable OperationOwner[] owners;
  private final long[] cookies;
  private final long[] peers;
  private final int[] free;
  private int available;

  /**
   * @param first number of its first slot
   * @param contexts how many it has
   */
  public ContextTable(int first, int contexts) {
    this.first = first;
    owners = new @Nullable OperationOwner[contexts];
    cookies = new long[contexts];
    peers = new long[contexts];
    free = new int[contexts];
    Arrays.setAll(free, index -> first + contexts - 1 - index);
    available = contexts;
  }

  /** Takes a slot for an operation to the address of a number, or {@link #NONE}. */
  public int take(OperationOwner owner, long cookie, long peer) {
    if (available == 0) {
      return NONE;
    }
    int context = free[--available];
    owners[context - first] = owner;
    cookies[context - first] = cookie;
    peers[context - first] = peer;
    return context;
  }

  /** What the slot's operation was posted with; of a slot that is out. */
  public long cookie(int context) {
    return cookies[context - first];
  }

  /** Gives a slot back; whose it was, or null if it is not out. */
  public @Nullable OperationOwner give(int context) {
    OperationOwner owner = owners[context - first];
    if (owner != null) {
      owners[context - first] = null;
      free[available++] = context;
    }
    return owner;
  }

  /** Whose the slot is; null if it is not out. */
  public @Nullable OperationOwner owner(int context) {
    return owners[context - first];
  }

  /** Whether a slot of an operation to that address is out. */
  public boolean isOutTo(long peer) {
    for (int index = 0; index < owners.length; index++) {
      if (peers[index] == peer && owners[index] != null) {
        return true;
      }
    }
    return false;
  }

  /** A slot that is out belongs to somebody else from now on. */
  public void pass(int context, OperationOwner to) {
    owners[context - first] = to;
  }

  public int first() {
    return first;
  }

  public int end() {
    return first + owners.length;
  }

  public int taken() {
    return owners.length - available;
  }
}
