package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * Messages of fixed size about a communicator: refuse, close, closed, abort, true length. Static
 * and without allocation: true lengths travel once per message on some providers.
 *
 * <pre>
 *  0 header, 32 bytes   32 u64 number   40 u64 length   48 u32 reason   52 u16 sub-receive
 * 54 u16 reserved       56 u64 reserved
 * </pre>
 *
 * <pre>
 *              number                          length              reason            sub-receive
 * REFUSE       0                               refuser's rails     why               0
 * CLOSE        messages this side started      0                   0                 0
 * CLOSED       0                               0                   0                 0
 * ABORT        0                               0                   why               0
 * TRUE_LENGTH  the message's, all of it        its true length     0                 which
 * </pre>
 *
 * A reason is a {@link FailureCause#code} negated. A refuser's rails are control rails × 256 + data
 * rails. A refusal has this layout in every version, so that who speaks another one can read it.
 */
public final class ControlMessage {
  /** The length of each. */
  public static final int BYTES = 64;

  private static final int NUMBER = 32;
  private static final int LENGTH = 40;
  private static final int REASON = 48;
  private static final int SUB_RECEIVE = 52;
  private static final int RESERVED = 54;

  private ControlMessage() {}

  /** Writes a refusal, with the rails that the refuser has. */
  public static void putRefuse(
      MemorySegment memory,
      long at,
      Parties parties,
      FailureCause why,
      int dataRails,
      int controlRails) {
    put(memory, at, MessageType.REFUSE, parties, 0, controlRails << 8 | dataRails, why, 0);
  }

  /** Writes a close, with how many messages this side started. */
  public static void putClose(MemorySegment memory, long at, Parties parties, long messages) {
    put(memory, at, MessageType.CLOSE, parties, messages, 0, null, 0);
  }

  /** Writes that the peer's close is known. */
  public static void putClosed(MemorySegment memory, long at, Parties parties) {
    put(memory, at, MessageType.CLOSED, parties, 0, 0, null, 0);
  }

  /** Writes an abort. */
  public static void putAbort(MemorySegment memory, long at, Parties parties, FailureCause why) {
    put(memory, at, MessageType.ABORT, parties, 0, 0, why, 0);
  }

  /** Writes the true length of a message, or of a receive of a group. */
  public static void putTrueLength(
      MemorySegment memory,
      long at,
      Parties parties,
      long messageNumber,
      int subReceive,
      long lengthBytes) {
    put(memory, at, MessageType.TRUE_LENGTH, parties, messageNumber, lengthBytes, null, subReceive);
  }

  private static void put(
      MemorySegment memory,
      long at,
      MessageType type,
      Parties parties,
      long number,
      long length,
      @Nullable FailureCause why,
      int subReceive) {
    MessageHeader.put(memory, at, type, BYTES, parties);
    memory.set(WireLayouts.LONG, at + NUMBER, number);
    memory.set(WireLayouts.LONG, at + LENGTH, length);
    memory.set(WireLayouts.INT, at + REASON, why == null ? 0 : (int) -why.code());
    memory.set(WireLayouts.SHORT, at + SUB_RECEIVE, (short) subReceive);
    memory.set(WireLayouts.SHORT, at + RESERVED, (short) 0);
    memory.set(WireLayouts.LONG, at + RESERVED + 2, 0L);
  }

  /**
   * What is wrong with a message; with none, it is one of these and its fields can be read.
   *
   * @param length how many bytes arrived
   */
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
    if (memory.get(WireLayouts.SHORT, at + RESERVED) != 0
        || memory.get(WireLayouts.LONG, at + RESERVED + 2) != 0) {
      return WireFault.RESERVED;
    }
    return checkBody(memory, at, type);
  }

  private static WireFault checkBody(MemorySegment memory, long at, MessageType type) {
    boolean hasReason = type == MessageType.REFUSE || type == MessageType.ABORT;
    int reason = memory.get(WireLayouts.INT, at + REASON);
    if (hasReason ? !FailureCause.isFailure(-(long) reason) : reason != 0) {
      return WireFault.REASON;
    }
    long number = number(memory, at);
    long length = lengthBytes(memory, at);
    int subReceive = subReceive(memory, at);
    if (type == MessageType.TRUE_LENGTH) {
      if (number < 1) {
        return WireFault.SEQUENCE;
      }
      if (length < 0 || length > ProtocolLimits.MAX_MESSAGE_BYTES) {
        return WireFault.RANGE;
      }
      return subReceive < ProtocolLimits.MAX_GROUP ? WireFault.NONE : WireFault.GROUP;
    }
    if (subReceive != 0) {
      return WireFault.GROUP;
    }
    if (type == MessageType.CLOSE ? number < 0 : number != 0) {
      return WireFault.SEQUENCE;
    }
    if (type == MessageType.REFUSE) {
      return (length & ~0xffffL) == 0 ? WireFault.NONE : WireFault.RAILS;
    }
    return length == 0 ? WireFault.NONE : WireFault.RANGE;
  }

  /** The message's number, or how many messages were started. */
  public static long number(MemorySegment memory, long at) {
    return memory.get(WireLayouts.LONG, at + NUMBER);
  }

  /** The true length. */
  public static long lengthBytes(MemorySegment memory, long at) {
    return memory.get(WireLayouts.LONG, at + LENGTH);
  }

  /** Which receive of the group. */
  public static int subReceive(MemorySegment memory, long at) {
    return Short.toUnsignedInt(memory.get(WireLayouts.SHORT, at + SUB_RECEIVE));
  }

  /** Why a connection was refused or aborted; of a checked message of these types only. */
  public static FailureCause reason(MemorySegment memory, long at) {
    return FailureCause.of(-(long) memory.get(WireLayouts.INT, at + REASON));
  }

  /** Data rails of who refused. */
  public static int refuserDataRails(MemorySegment memory, long at) {
    return (int) lengthBytes(memory, at) & 0xff;
  }

  /** Control rails of who refused. */
  public static int refuserControlRails(MemorySegment memory, long at) {
    return (int) (lengthBytes(memory, at) >>> 8) & 0xff;
  }
}
