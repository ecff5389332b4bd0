package org.jofi.simulated;

import java.util.ArrayDeque;
import java.util.Set;
import org.jofi.fabric.MessageOrder;

/**
 * What an endpoint sends to one peer: what is in flight, and how the negotiated order is kept. What
 * must stay behind arrives no earlier, and is served no earlier than the other has landed.
 */
final class Flow {
  private static final int SENDS = 0;
  private static final int WRITES = 1;
  private static final int READS = 2;

  /** The peer's endpoint, as {@link EndpointAddress#key} has it. */
  final long address;

  /** The way there. */
  final Link link;

  /** Whether a connection was asked for, and when it stands. */
  boolean connecting;

  long connectedAt;

  /** Posted, and neither complete nor dropped. */
  int inFlight;

  /** Taken up by the NIC, and neither complete nor dropped. */
  int departed;

  /** Waiting for a fence, in order; the first may be about to leave. */
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
          // Atomics are not carried.
        }
      }
    }
  }

  /** Before when an operation must not arrive that stays behind earlier ones. */
  long arrivesAfter(TransferKind kind) {
    return lastOf(arrivals, kind);
  }

  /** Before when an operation that is served must not touch memory: earlier ones are through. */
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

  /** When the last that went its usual way arrives. */
  long lastArrival() {
    return lastArrival;
  }

  /** An operation will arrive at that time; {@code late} if it lags behind. */
  void willArrive(TransferKind kind, long arrival, boolean late) {
    int row = row(kind);
    arrivals[row] = Math.max(arrivals[row], arrival);
    if (!late) {
      lastArrival = Math.max(lastArrival, arrival);
    }
  }

  /** An operation was served, and touches memory for the last time then. */
  void willLand(TransferKind kind, long last) {
    int row = row(kind);
    landings[row] = Math.max(landings[row], last);
  }

  /** Whether an operation must wait for a fence: its own, or that of one before it. */
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
}
