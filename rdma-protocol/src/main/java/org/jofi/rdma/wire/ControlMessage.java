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
      ConnectionId connectionId,
      MessageType type,
      long number,
      long value,
      @Nullable FailureCause why) {
    MessageHeader.put(memory, type, BYTES, connectionId);
    memory.set(WireLayouts.LONG, NUMBER, number);
    memory.set(WireLayouts.LONG, VALUE, value);
    memory.set(WireLayouts.INT, REASON, why == null ? 0 : (int) -why.code());
    memory.set(WireLayouts.INT, RESERVED, 0);
    memory.set(WireLayouts.LONG, RESERVED_TOO, 0L);
  }

  /** What is wrong with a message of so many bytes; with none, its fields can be read. */
  public static WireFault check(MemorySegment memory, long length) {
    WireFault header = MessageHeader.check(memory, length);
    if (header != WireFault.NONE) {
      return header;
    }
    MessageType type = MessageHeader.type(memory);
    if (type == null || !type.isControl()) {
      return WireFault.TYPE;
    }
    if (length != BYTES) {
      return length < BYTES ? WireFault.TRUNCATED : WireFault.TRAILING;
    }
    if (type != MessageType.REFUSE && MessageHeader.version(memory) != ProtocolLimits.VERSION) {
      return WireFault.VERSION;
    }
    if (memory.get(WireLayouts.INT, RESERVED) != 0
        || memory.get(WireLayouts.LONG, RESERVED_TOO) != 0) {
      return WireFault.RESERVED;
    }
    int reason = memory.get(WireLayouts.INT, REASON);
    boolean fits =
        switch (type.reason) {
          case NEVER -> reason == 0;
          case PERHAPS -> reason == 0 || FailureCause.isFailure(-(long) reason);
          case ALWAYS -> FailureCause.isFailure(-(long) reason);
        };
    if (!fits) {
      return WireFault.REASON;
    }
    WireFault fault = type.check(number(memory), value(memory));
    return fault == WireFault.NONE ? checkTogether(memory, type) : fault;
  }

  /** What is wrong with fields that are sound each for itself. */
  private static WireFault checkTogether(MemorySegment memory, MessageType type) {
    if (type == MessageType.CREDIT && number(memory) < untaken(memory)) {
      return WireFault.INDEX;
    }
    if (type != MessageType.WRITTEN) {
      return WireFault.NONE;
    }
    int immediate = (int) value(memory);
    WireFault fault = ImmediateData.check(value(memory));
    if (fault != WireFault.NONE) {
      return fault;
    }
    if (ImmediateData.communicator(immediate) != MessageHeader.to(memory)) {
      return WireFault.COMMUNICATOR;
    }
    return ImmediateData.indexBits(immediate) == (number(memory) & INDEX)
        ? WireFault.NONE
        : WireFault.INDEX;
  }

  public static long number(MemorySegment memory) {
    return memory.get(WireLayouts.LONG, NUMBER);
  }

  public static long value(MemorySegment memory) {
    return memory.get(WireLayouts.LONG, VALUE);
  }

  public static boolean hasReason(MemorySegment memory) {
    return memory.get(WireLayouts.INT, REASON) != 0;
  }

  /** Why a connection was refused or aborted; of a checked message that {@link #hasReason}. */
  public static FailureCause reason(MemorySegment memory) {
    return FailureCause.of(-(long) memory.get(WireLayouts.INT, REASON));
  }

  /** The value of a question for a stripe, after so many tries, or of its answer. */
  public static long ofStripe(int stripe, int tries, boolean arrived) {
    return stripe | (arrived ? ARRIVED : 0) | (long) tries << UPPER;
  }

  public static int stripe(MemorySegment memory) {
    return (int) value(memory) & STRIPE;
  }

  public static int tries(MemorySegment memory) {
    return (int) (value(memory) >>> UPPER);
  }

  /** Whether the stripe arrived; of an answer. */
  public static boolean arrived(MemorySegment memory) {
    return (value(memory) & ARRIVED) != 0;
  }

  /** The value of a credit: what no receive has taken, 0 to 255, and receives with an index. */
  public static long ofCredit(int untaken, long announced) {
    return announced << UPPER | untaken;
  }

  /** Eager messages that the peer handled and no receive has taken; of a credit. */
  public static int untaken(MemorySegment memory) {
    return (int) value(memory) & LOWER_MASK;
  }

  /** Receives of the peer that had an index by then; of a credit. */
  public static long announced(MemorySegment memory) {
    return value(memory) >>> UPPER;
  }

  /** The value of a refusal: what the refuser has. */
  public static long ofRails(int dataRails, int controlRails) {
    return (long) controlRails << UPPER | dataRails;
  }

  public static int refuserDataRails(MemorySegment memory) {
    return (int) value(memory) & LOWER_MASK;
  }

  public static int refuserControlRails(MemorySegment memory) {
    return (int) (value(memory) >>> UPPER) & LOWER_MASK;
  }
}
