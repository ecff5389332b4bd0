package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * Messages of fixed size about a communicator. Static and without allocation: true lengths travel
 * once per message on some providers.
 *
 * <pre>
 *  0 header, 32 bytes   32 u64 number   40 u64 value   48 u32 reason   52 12 bytes reserved
 * </pre>
 *
 * {@link MessageType} says what number and value are in each. A reason is a {@link
 * FailureCause#code} negated. A refusal has this layout in every version, so that who speaks
 * another one can read it.
 */
public final class ControlMessage {
  public static final int BYTES = 64;

  /** How often a stripe is posted, at most. */
  public static final int MOST_TRIES = 255;

  private static final int NUMBER = 32;
  private static final int VALUE = 40;
  private static final int REASON = 48;
  private static final int RESERVED = 52;
  private static final int RESERVED_TOO = 56;

  /** Where the upper part of a value begins that has two. */
  private static final int UPPER = 8;

  private static final int LOWER_MASK = 0xff;
  private static final int INDEX = (1 << ProtocolLimits.INDEX_BITS) - 1;
  private static final long ARRIVED = ProtocolLimits.MAX_STRIPES;
  private static final int STRIPE = ProtocolLimits.MAX_STRIPES - 1;

  private ControlMessage() {}

  /** Writes one, as {@link MessageType} says. */
  public static void put(
      MemorySegment memory,
      long at,
      ConnectionId connectionId,
      MessageType type,
      long number,
      long value,
      @Nullable FailureCause why) {
    MessageHeader.put(memory, at, type, BYTES, connectionId);
    memory.set(WireLayouts.LONG, at + NUMBER, number);
    memory.set(WireLayouts.LONG, at + VALUE, value);
    memory.set(WireLayouts.INT, at + REASON, why == null ? 0 : (int) -why.code());
    memory.set(WireLayouts.INT, at + RESERVED, 0);
    memory.set(WireLayouts.LONG, at + RESERVED_TOO, 0L);
  }

  /** What is wrong with a message of so many bytes; with none, its fields can be read. */
  public static WireFault check(MemorySegment memory, long at, long length) {
    WireFault header = MessageHeader.check(memory, at, length);
    if (header != WireFault.NONE) {
      return header;
    }
    MessageType type = MessageHeader.type(memory, at);
    if (type == null || !type.isControl()) {
      return WireFault.TYPE;
    }
    if (length != BYTES) {
      return length < BYTES ? WireFault.TRUNCATED : WireFault.TRAILING;
    }
    if (type != MessageType.REFUSE && MessageHeader.version(memory, at) != ProtocolLimits.VERSION) {
      return WireFault.VERSION;
    }
    if (memory.get(WireLayouts.INT, at + RESERVED) != 0
        || memory.get(WireLayouts.LONG, at + RESERVED_TOO) != 0) {
      return WireFault.RESERVED;
    }
    int reason = memory.get(WireLayouts.INT, at + REASON);
    boolean fits =
        switch (type.reason) {
          case NEVER -> reason == 0;
          case PERHAPS -> reason == 0 || FailureCause.isFailure(-(long) reason);
          case ALWAYS -> FailureCause.isFailure(-(long) reason);
        };
    if (!fits) {
      return WireFault.REASON;
    }
    WireFault fault = type.check(number(memory, at), value(memory, at));
    return fault == WireFault.NONE ? checkTogether(memory, at, type) : fault;
  }

  /** What is wrong with fields that are sound each for itself. */
  private static WireFault checkTogether(MemorySegment memory, long at, MessageType type) {
    if (type == MessageType.CREDIT && number(memory, at) < untaken(memory, at)) {
      return WireFault.INDEX;
    }
    if (type != MessageType.WRITTEN) {
      return WireFault.NONE;
    }
    int immediate = (int) value(memory, at);
    WireFault fault = ImmediateData.check(value(memory, at));
    if (fault != WireFault.NONE) {
      return fault;
    }
    if (ImmediateData.communicator(immediate) != MessageHeader.to(memory, at)) {
      return WireFault.COMMUNICATOR;
    }
    return ImmediateData.indexBits(immediate) == (number(memory, at) & INDEX)
        ? WireFault.NONE
        : WireFault.INDEX;
  }

  public static long number(MemorySegment memory, long at) {
    return memory.get(WireLayouts.LONG, at + NUMBER);
  }

  public static long value(MemorySegment memory, long at) {
    return memory.get(WireLayouts.LONG, at + VALUE);
  }

  public static boolean hasReason(MemorySegment memory, long at) {
    return memory.get(WireLayouts.INT, at + REASON) != 0;
  }

  /** Why a connection was refused or aborted; of a checked message that {@link #hasReason}. */
  public static FailureCause reason(MemorySegment memory, long at) {
    return FailureCause.of(-(long) memory.get(WireLayouts.INT, at + REASON));
  }

  /** The value of a question for a stripe, after so many tries, or of its answer. */
  public static long ofStripe(int stripe, int tries, boolean arrived) {
    return stripe | (arrived ? ARRIVED : 0) | (long) tries << UPPER;
  }

  public static int stripe(MemorySegment memory, long at) {
    return (int) value(memory, at) & STRIPE;
  }

  public static int tries(MemorySegment memory, long at) {
    return (int) (value(memory, at) >>> UPPER);
  }

  /** Whether the stripe arrived; of an answer. */
  public static boolean arrived(MemorySegment memory, long at) {
    return (value(memory, at) & ARRIVED) != 0;
  }

  /** The value of a credit: what no receive has taken, 0 to 255, and receives with an index. */
  public static long ofCredit(int untaken, long announced) {
    return announced << UPPER | untaken;
  }

  /** Eager messages that the peer handled and no receive has taken; of a credit. */
  public static int untaken(MemorySegment memory, long at) {
    return (int) value(memory, at) & LOWER_MASK;
  }

  /** Receives of the peer that had an index by then; of a credit. */
  public static long announced(MemorySegment memory, long at) {
    return value(memory, at) >>> UPPER;
  }

  /** The value of a refusal: what the refuser has. */
  public static long ofRails(int dataRails, int controlRails) {
    return (long) controlRails << UPPER | dataRails;
  }

  public static int refuserDataRails(MemorySegment memory, long at) {
    return (int) value(memory, at) & LOWER_MASK;
  }

  public static int refuserControlRails(MemorySegment memory, long at) {
    return (int) (value(memory, at) >>> UPPER) & LOWER_MASK;
  }
}
