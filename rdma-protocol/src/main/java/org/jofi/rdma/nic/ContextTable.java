package org.jofi.rdma.nic;

import java.util.Arrays;
import org.jofi.fabric.Endpoint;
import org.jofi.transport.Failure;
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

  /** Whether a slot of an operation to that address is out. */
  public boolean isOutTo(long peer) {
    for (int index = 0; index < owners.length; index++) {
      if (peers[index] == peer && owners[index] != null) {
        return true;
      }
    }
    return false;
  }

  /** As {@link OperationOwner#lost}, of each slot that is out: it stays so. */
  void lose(RailPort port, Failure why) {
    for (int index = 0; index < owners.length; index++) {
      OperationOwner owner = owners[index];
      if (owner != null) {
        owner.lost(cookies[index], port, why);
      }
    }
  }

  /** As {@link OperationOwner#failed}, of each slot that is out, which is given back. */
  void drop(RailPort port, Failure why) {
    for (int index = 0; index < owners.length; index++) {
      OperationOwner owner = give(first + index);
      if (owner != null) {
        owner.failed(cookies[index], port, why);
      }
    }
  }

  /** As {@link OperationOwner#moveOff}, of each slot that is out. */
  void moveOff(RailUser silent, Failure why) {
    for (int index = 0; index < owners.length; index++) {
      OperationOwner owner = owners[index];
      if (owner != null) {
        owners[index] = owner.moveOff(cookies[index], silent, why);
      }
    }
  }

  /** Asks the provider to drop what is out. */
  void cancel(Endpoint endpoint) {
    for (int index = 0; index < owners.length; index++) {
      if (owners[index] != null) {
        // Sends and writes cannot be taken back; that is no failure of the cancelling.
        int answer = endpoint.cancel(first + index);
        assert answer <= 0 : answer;
      }
    }
  }

  public int first() {
    return first;
  }

  public int taken() {
    return owners.length - available;
  }
}
