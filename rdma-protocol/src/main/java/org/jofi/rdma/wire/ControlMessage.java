package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * Messages of fixed size about a communicator: refuse, close, closed, abort, true length, ping,
 * pong, ready, credit, want. Static and without allocation: true lengths travel once per message on
 * some providers.
 *
 * <pre>
 *  0 header, 32 bytes   32 u64 number   40 u64 length   48 u32 reason   52 12 bytes reserved
 * </pre>
 *
 * <pre>
 *              number                          length              reason
 * REFUSE       0                               refuser's rails     why
 * CLOSE        messages sent to the end        its writes          0, or why
 * CLOSED       0                               its writes          0
 * ABORT        0                               0                   why
 * TRUE_LENGTH  the receive's index, all of it  its true length     0
 * PING, PONG   messages sent to the end        first not seen      0
 * ASK, ANSWER  the receive's index             which stripe        0
 * WRITTEN      the receive's index             immediate data      0
 * READY        0                               0                   0
 * CREDIT       eager messages handled          untaken, announced  0
 * WANT         the last receive seen           0                   0
 * LACKING      the first receive's index       0                   0
 * ARRIVED      the receive's index             the true length     0
 * CHUNKS_*     the receive's index             how many chunks     0
 * </pre>
 *
 * A reason is a {@link FailureCause#code} negated. A refuser's rails are control rails × 256 + data
 * rails. Which stripe: its number, + 32 if it arrived, + 256 × how often it was posted. Of a
 * credit: eager messages that are handled but not taken (at most 255, and no more than are handled)
 * + 256 × receives that had an index by then. A refusal has this layout in every version, so that
 * who speaks another one can read it.
 */
public final class ControlMessage {
  /** The length of each. */
  public static final int BYTES = 64;

  /** How often a stripe is posted, at most. */
  public static final int MOST_TRIES = 255;

  private static final int TRIES = 8;
  private static final int ANNOUNCED = 8;
  private static final int UNTAKEN_MASK = 0xff;
  private static final int INDEX = (1 << ProtocolLimits.INDEX_BITS) - 1;
  private static final long ARRIVED = ProtocolLimits.MAX_STRIPES;
  private static final int STRIPE = ProtocolLimits.MAX_STRIPES - 1;

  private static final int NUMBER = 32;
  private static final int LENGTH = 40;
  private static final int REASON = 48;
  private static final int RESERVED = 52;
  private static final int RESERVED_TOO = 56;

  private ControlMessage() {}

  /** Writes a refusal, with the rails that the refuser has. */
  public static void putRefuse(
      MemorySegment memory,
      long at,
      ConnectionId connectionId,
      FailureCause why,
      int dataRails,
      int controlRails) {
    put(memory, at, MessageType.REFUSE, connectionId, 0, controlRails << 8 | dataRails, why);
  }

  /**
   * Writes a close, with how many messages this side sent to the end.
   *
   * @param writes those of this side that the peer will have seen when all of them have arrived
   * @param why null for an orderly close; what the abort before it said, which it may overtake
   */
  public static void putClose(
      MemorySegment memory,
      long at,
      ConnectionId connectionId,
      long messages,
      long writes,
      @Nullable FailureCause why) {
    put(memory, at, MessageType.CLOSE, connectionId, messages, writes, why);
  }

  /** Writes that the peer's close is known; with its writes, as in {@link #putClose}. */
  public static void putClosed(
      MemorySegment memory, long at, ConnectionId connectionId, long writes) {
    put(memory, at, MessageType.CLOSED, connectionId, 0, writes, null);
  }

  /** Writes that the connector knows the acceptor on every rail. */
  public static void putReady(MemorySegment memory, long at, ConnectionId connectionId) {
    put(memory, at, MessageType.READY, connectionId, 0, 0, null);
  }

  /** Writes an abort. */
  public static void putAbort(
      MemorySegment memory, long at, ConnectionId connectionId, FailureCause why) {
    put(memory, at, MessageType.ABORT, connectionId, 0, 0, why);
  }

  /**
   * Writes a question whether the peer is there.
   *
   * @param finished messages that this side sent to the end
   * @param seen the first receive whose entry it has not seen; 0 if it sends none
   */
  public static void putPing(
      MemorySegment memory, long at, ConnectionId connectionId, long finished, long seen) {
    put(memory, at, MessageType.PING, connectionId, finished, seen, null);
  }

  /** Writes that this side is there; otherwise as {@link #putPing}. */
  public static void putPong(
      MemorySegment memory, long at, ConnectionId connectionId, long finished, long seen) {
    put(memory, at, MessageType.PONG, connectionId, finished, seen, null);
  }

  /**
   * Writes a question whether a stripe arrived.
   *
   * @param tries how often it was posted, 1 to {@link #MOST_TRIES}
   */
  public static void putAsk(
      MemorySegment memory,
      long at,
      ConnectionId connectionId,
      long receiveIndex,
      int stripe,
      int tries) {
    long which = stripe | (long) tries << TRIES;
    put(memory, at, MessageType.ASK, connectionId, receiveIndex, which, null);
  }

  /** Writes the answer to a question that is there, checked. */
  public static void putAnswer(
      MemorySegment memory,
      long at,
      ConnectionId connectionId,
      long receiveIndex,
      int stripe,
      int tries,
      boolean arrived) {
    long which = stripe | (arrived ? ARRIVED : 0) | (long) tries << TRIES;
    put(memory, at, MessageType.ANSWER, connectionId, receiveIndex, which, null);
  }

  /** Writes that a stripe was written again, with the immediate data that stands for it. */
  public static void putWritten(
      MemorySegment memory, long at, ConnectionId connectionId, long receiveIndex, int immediate) {
    long bits = Integer.toUnsignedLong(immediate);
    put(memory, at, MessageType.WRITTEN, connectionId, receiveIndex, bits, null);
  }

  /**
   * Writes how far the receiver is with the eager messages.
   *
   * @param handled those that were handled in order so far
   * @param untaken those of them that no receive has taken, 0 to 255
   * @param announced receives that had an index by then
   */
  public static void putCredit(
      MemorySegment memory,
      long at,
      ConnectionId connectionId,
      long handled,
      int untaken,
      long announced) {
    long length = announced << ANNOUNCED | untaken;
    put(memory, at, MessageType.CREDIT, connectionId, handled, length, null);
  }

  /**
   * Writes that the sender waits for announcements.
   *
   * @param seen the last receive that the sender has seen
   */
  public static void putWant(MemorySegment memory, long at, ConnectionId connectionId, long seen) {
    put(memory, at, MessageType.WANT, connectionId, seen, 0, null);
  }

  /**
   * Writes what there is to tell of a receive, and of nothing but one length or number.
   *
   * @param type {@code TRUE_LENGTH}, {@code LACKING}, {@code ARRIVED}, {@code CHUNKS_WRITTEN} or
   *     {@code CHUNKS_TAKEN}
   * @param receiveIndex of the message; or of the first that is lacking
   * @param length its true length in bytes, or how many chunks; 0 for what is lacking
   */
  public static void putOfReceive(
      MemorySegment memory,
      long at,
      ConnectionId connectionId,
      MessageType type,
      long receiveIndex,
      long length) {
    put(memory, at, type, connectionId, receiveIndex, length, null);
  }

  private static void put(
      MemorySegment memory,
      long at,
      MessageType type,
      ConnectionId connectionId,
      long number,
      long length,
      @Nullable FailureCause why) {
    MessageHeader.put(memory, at, type, BYTES, connectionId);
    memory.set(WireLayouts.LONG, at + NUMBER, number);
    memory.set(WireLayouts.LONG, at + LENGTH, length);
    memory.set(WireLayouts.INT, at + REASON, why == null ? 0 : (int) -why.code());
    memory.set(WireLayouts.INT, at + RESERVED, 0);
    memory.set(WireLayouts.LONG, at + RESERVED_TOO, 0L);
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
    if (memory.get(WireLayouts.INT, at + RESERVED) != 0
        || memory.get(WireLayouts.LONG, at + RESERVED_TOO) != 0) {
      return WireFault.RESERVED;
    }
    return checkBody(memory, at, type);
  }

  private static WireFault checkBody(MemorySegment memory, long at, MessageType type) {
    int reason = memory.get(WireLayouts.INT, at + REASON);
    boolean fits =
        switch (type) {
          case REFUSE, ABORT -> FailureCause.isFailure(-(long) reason);
          case CLOSE -> reason == 0 || FailureCause.isFailure(-(long) reason);
          default -> reason == 0;
        };
    if (!fits) {
      return WireFault.REASON;
    }
    long number = number(memory, at);
    long length = lengthBytes(memory, at);
    return switch (type) {
      case LACKING -> length == 0 ? checkIndex(number) : WireFault.RANGE;
      case TRUE_LENGTH, ARRIVED, CHUNKS_WRITTEN, CHUNKS_TAKEN ->
          length < 0 || length > ProtocolLimits.MAX_MESSAGE_BYTES
              ? WireFault.RANGE
              : checkIndex(number);
      case ASK, ANSWER -> isStripe(length, type) ? checkIndex(number) : WireFault.STRIPE;
      case WRITTEN -> checkWritten(memory, at, number, length);
      case PING, PONG -> number < 0 || length < 0 ? WireFault.INDEX : WireFault.NONE;
      case CREDIT -> checkAlone(number >= untaken(memory, at), length >= 0);
      case WANT -> checkAlone(number >= 0, length == 0);
      case CLOSE -> checkAlone(number >= 0, length >= 0);
      case CLOSED -> checkAlone(number == 0, length >= 0);
      case REFUSE -> (length & ~0xffffL) != 0 ? WireFault.RAILS : checkAlone(number == 0, true);
      default -> checkAlone(number == 0, length == 0);
    };
  }

  private static WireFault checkIndex(long index) {
    return index < 1 ? WireFault.INDEX : WireFault.NONE;
  }

  private static WireFault checkWritten(MemorySegment memory, long at, long index, long bits) {
    WireFault fault = ImmediateData.check(bits);
    if (fault != WireFault.NONE) {
      return fault;
    }
    int immediate = (int) bits;
    if (ImmediateData.communicator(immediate) != MessageHeader.to(memory, at)) {
      return WireFault.COMMUNICATOR;
    }
    return index < 1 || ImmediateData.indexBits(immediate) != (index & INDEX)
        ? WireFault.INDEX
        : WireFault.NONE;
  }

  private static WireFault checkAlone(boolean numberFits, boolean lengthFits) {
    if (!numberFits) {
      return WireFault.INDEX;
    }
    return lengthFits ? WireFault.NONE : WireFault.RANGE;
  }

  private static boolean isStripe(long which, MessageType type) {
    long tries = which >>> TRIES;
    boolean known = (which & 0xff) <= (type == MessageType.ANSWER ? ARRIVED | STRIPE : STRIPE);
    return known && tries >= 1 && tries <= MOST_TRIES;
  }

  /** The receive's index, or how many messages were sent to the end. */
  public static long number(MemorySegment memory, long at) {
    return memory.get(WireLayouts.LONG, at + NUMBER);
  }

  /** The true length, or how many chunks. */
  public static long lengthBytes(MemorySegment memory, long at) {
    return memory.get(WireLayouts.LONG, at + LENGTH);
  }

  /** Writes of the peer that are to have arrived; of a close or its answer. */
  public static long writes(MemorySegment memory, long at) {
    return memory.get(WireLayouts.LONG, at + LENGTH);
  }

  /** Messages that the peer sent to the end; of a ping or its answer. */
  public static long finished(MemorySegment memory, long at) {
    return number(memory, at);
  }

  /** The first receive whose entry the peer has not seen; of a ping or its answer. */
  public static long seen(MemorySegment memory, long at) {
    return lengthBytes(memory, at);
  }

  /** Which stripe is asked for. */
  public static int stripe(MemorySegment memory, long at) {
    return (int) lengthBytes(memory, at) & STRIPE;
  }

  /** How often the stripe was posted when that was asked. */
  public static int tries(MemorySegment memory, long at) {
    return (int) (lengthBytes(memory, at) >>> TRIES);
  }

  /** The immediate data of a stripe that was written again. */
  public static int immediate(MemorySegment memory, long at) {
    return (int) lengthBytes(memory, at);
  }

  /** Whether the stripe arrived; of an answer. */
  public static boolean arrived(MemorySegment memory, long at) {
    return (lengthBytes(memory, at) & ARRIVED) != 0;
  }

  /** Eager messages that the peer handled in order; of a credit. */
  public static long handled(MemorySegment memory, long at) {
    return number(memory, at);
  }

  /** Eager messages that the peer handled and no receive has taken; of a credit. */
  public static int untaken(MemorySegment memory, long at) {
    return (int) lengthBytes(memory, at) & UNTAKEN_MASK;
  }

  /** Receives of the peer that had an index by then; of a credit. */
  public static long announced(MemorySegment memory, long at) {
    return lengthBytes(memory, at) >>> ANNOUNCED;
  }

  /** Whether a close comes after an abort. */
  public static boolean hasReason(MemorySegment memory, long at) {
    return memory.get(WireLayouts.INT, at + REASON) != 0;
  }

  /** Why a connection was refused or aborted; of a checked message that has a reason only. */
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
