package org.jofi.simulated.engine;

import java.util.ArrayDeque;
import java.util.Set;
import org.jofi.fabric.MessageOrder;
import org.jofi.simulated.network.EndpointAddress;
import org.jofi.simulated.profile.Link;

/**
 * The operations of an endpoint to one peer: how many are in flight, and how the negotiated order
 * is kept. An operation that must not overtake another one arrives no earlier, and is served only
 * after the other's data is in memory.
 */
public final class Flow {
  private static final int SENDS = 0;
  private static final int WRITES = 1;
  private static final int READS = 2;

  /** The key of the peer's endpoint; see {@link EndpointAddress#key}. */
  final long address;

  /** The link to the peer. */
  final Link link;

  /** Whether a connection was requested, and from when on it is made. */
  boolean connecting;

  long connectedAt;

  /** How many operations are posted, and neither complete nor dropped. */
  int inFlight;

  /** How many operations the NIC has started, which are neither complete nor dropped. */
  int departed;

  /** The transfers that wait for a fence, in order; the first may be about to depart. */
  final ArrayDeque<Transfer> blocked = new ArrayDeque<>();

  private final boolean[] after = new boolean[9];
  private final long[] arrivals = new long[3];
  private final long[] landings = new long[3];
  private long lastArrival;

  Flow(long address, Link link, Set<MessageOrder> orders) {
    this.address = address;
    this.link = link;
    for (MessageOrder order : orders) {
      switch (order) {
        case SAS -> keep(SENDS, SENDS);
        case SAW -> keep(SENDS, WRITES);
        case SAR -> keep(SENDS, READS);
        case WAS -> keep(WRITES, SENDS);
        case WAW, RMA_WAW -> keep(WRITES, WRITES);
        case WAR, RMA_WAR -> keep(WRITES, READS);
        case RAS -> keep(READS, SENDS);
        case RAW, RMA_RAW -> keep(READS, WRITES);
        case RAR, RMA_RAR -> keep(READS, READS);
        default -> {
          // Atomics are not supported here.
        }
      }
    }
  }

  /** The earliest time at which an operation may arrive that must not overtake earlier ones. */
  long arrivesAfter(TransferKind kind) {
    return lastOf(arrivals, kind);
  }

  /**
   * The earliest time at which an operation that is served may touch memory, because earlier ones
   * are done then.
   */
  long landsAfter(TransferKind kind) {
    return 1 + lastOf(landings, kind);
  }

  private long lastOf(long[] times, TransferKind kind) {
    int row = row(kind) * 3;
    long time = 0;
    for (int i = 0; i < 3; i++) {
      if (after[row + i]) {
        time = Math.max(time, times[i]);
      }
    }
    return time;
  }

  /** When the last operation arrives that was not delayed by a fault. */
  long lastArrival() {
    return lastArrival;
  }

  /** Records when an operation will arrive; {@code late} if a fault delays it. */
  void willArrive(TransferKind kind, long arrival, boolean late) {
    int row = row(kind);
    arrivals[row] = Math.max(arrivals[row], arrival);
    if (!late) {
      lastArrival = Math.max(lastArrival, arrival);
    }
  }

  /** Records when an operation that was served touches memory for the last time. */
  void willLand(TransferKind kind, long last) {
    int row = row(kind);
    landings[row] = Math.max(landings[row], last);
  }

  /** Whether an operation must wait for a fence: its own, or that of an earlier operation. */
  boolean holds(Transfer transfer) {
    Transfer first = blocked.peekFirst();
    return first == null ? transfer.fence && departed > 0 : first != transfer;
  }

  private void keep(int later, int earlier) {
    after[later * 3 + earlier] = true;
  }

  private static int row(TransferKind kind) {
    return switch (kind) {
      case SEND, INJECT -> SENDS;
      case WRITE -> WRITES;
      case READ -> READS;
    };
  }

  /** Whether it has a connection by now. The first call begins to connect. */
  public boolean isConnected(long now) {
    if (!connecting) {
      connecting = true;
      connectedAt = now + 2 * link.latencyNanos();
    }
    return now >= connectedAt;
  }
}
