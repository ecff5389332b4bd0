package org.jofi.simulated;

import java.util.ArrayDeque;
import java.util.Set;
import org.jofi.fabric.MessageOrder;

/** What an endpoint sends to one peer: when the last of each kind landed, and what is in flight. */
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

  /** Waiting for a fence. */
  final ArrayDeque<Transfer> blocked = new ArrayDeque<>();

  private final boolean[] after = new boolean[9];
  private final long[] landed = new long[3];
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

  /** The earliest time at which an operation may land that must stay behind earlier ones. */
  long earliest(TransferKind kind) {
    int row = row(kind) * 3;
    long time = 0;
    for (int i = 0; i < 3; i++) {
      if (after[row + i]) {
        time = Math.max(time, landed[i]);
      }
    }
    return time;
  }

  /** When the last that went its usual way arrives. */
  long lastArrival() {
    return lastArrival;
  }

  /** An operation will arrive and have landed at those times; {@code late} if it lags behind. */
  void willLand(TransferKind kind, long arrival, long end, boolean late) {
    int row = row(kind);
    landed[row] = Math.max(landed[row], end);
    if (!late) {
      lastArrival = Math.max(lastArrival, arrival);
    }
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
