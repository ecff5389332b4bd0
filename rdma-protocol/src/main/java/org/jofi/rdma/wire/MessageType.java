package org.jofi.rdma.wire;

import org.jspecify.annotations.Nullable;

/**
 * The messages that are sent rather than written into mailboxes. Those that are a {@link
 * ControlMessage} say what its number and its value are, and whether it has a reason; what they do
 * not name is 0.
 */
public enum MessageType {
  /** A connector asks a listener for a connection: {@link ConnectRequest}. */
  CONNECT(1),
  /** The listener's side accepts it: {@link ConnectAccept}. */
  ACCEPT(2),
  /** The listener's side does not. Value: its rails, {@link ControlMessage#ofRails}. */
  REFUSE(3, Word.NO_NUMBER, Word.RAILS, Reason.ALWAYS),
  /**
   * A side will post nothing more. Number: messages that it sent to the end. Value: those of its
   * writes that the peer will have seen when all of them have arrived. Reason: what the abort
   * before it said, which it may overtake.
   */
  CLOSE(4, Word.COUNT, Word.TOTAL, Reason.PERHAPS),
  /** A side knows of the other's close, and freed what the other could reach. Value: as above. */
  CLOSED(5, Word.NO_NUMBER, Word.TOTAL, Reason.NEVER),
  /** A side gave up, and completes nothing more. */
  ABORT(6, Word.NO_NUMBER, Word.NO_VALUE, Reason.ALWAYS),
  /**
   * The true length of a message whose immediate data said {@code short}. Number: the receive's
   * index. Value: the length in bytes.
   */
  TRUE_LENGTH(7, Word.INDEX, Word.LENGTH, Reason.NEVER),
  /**
   * A side waits, heard nothing for a while, and asks whether the other is there. Number: messages
   * that it sent to the end. Value: the first receive whose entry it has not seen; 0 if it sends
   * none.
   */
  PING(8, Word.COUNT, Word.UNSEEN, Reason.NEVER),
  /** It is. Number and value: as above. */
  PONG(9, Word.COUNT, Word.UNSEEN, Reason.NEVER),
  /**
   * The sender asks whether a stripe arrived whose write failed. Number: the receive's index.
   * Value: which stripe, {@link ControlMessage#ofStripe}.
   */
  ASK(10, Word.INDEX, Word.STRIPE, Reason.NEVER),
  /** Whether it did; if not, only {@link #WRITTEN} counts for it from now on. As above. */
  ANSWER(11, Word.INDEX, Word.ANSWERED_STRIPE, Reason.NEVER),
  /**
   * A stripe that was missing was written again, and is there. Number: the receive's index. Value:
   * the {@link ImmediateData} that stands for the stripe.
   */
  WRITTEN(12, Word.INDEX, Word.IMMEDIATE, Reason.NEVER),
  /** The connector knows the acceptor on every rail, so that the acceptor may write. */
  READY(13, Word.NO_NUMBER, Word.NO_VALUE, Reason.NEVER),
  /** Messages that are sent before, or instead of, an announcement: {@link EagerPacket}. */
  EAGER(14),
  /**
   * How far the receiver is with the eager messages. Number: those that were handled in order so
   * far. Value: {@link ControlMessage#ofCredit}.
   */
  CREDIT(15, Word.COUNT, Word.TOTAL, Reason.NEVER),
  /** The sender waits for announcements. Number: the last receive that it has seen. */
  WANT(16, Word.COUNT, Word.NO_VALUE, Reason.NEVER),
  /** What becomes of a data rail: {@link RailUpdate}. */
  RAIL_UPDATE(17),
  /**
   * The receiver closed a rail, with what its queue held, and asks which messages arrived of those
   * from a receive on. Number: that receive's index.
   */
  LACKING(18, Word.INDEX, Word.NO_VALUE, Reason.NEVER),
  /** A message arrived whole, as its sender knows. Number and value: as of a true length. */
  ARRIVED(19, Word.INDEX, Word.LENGTH, Reason.NEVER),
  /**
   * So many chunks of a staged message, from the first on, are in the blocks of its receive.
   * Number: the receive's index. Value: how many.
   */
  CHUNKS_WRITTEN(20, Word.INDEX, Word.LENGTH, Reason.NEVER),
  /** So many are out of their blocks, which are free again. Number and value: as above. */
  CHUNKS_TAKEN(21, Word.INDEX, Word.LENGTH, Reason.NEVER),
  /** The listener's side names a listener with other rails: {@link ConnectRedirect}. */
  REDIRECT(22);

  /** What a number or a value may be. */
  enum Word {
    NO_NUMBER(0, 0, WireFault.INDEX),
    COUNT(0, Long.MAX_VALUE, WireFault.INDEX),
    INDEX(1, Long.MAX_VALUE, WireFault.INDEX),
    NO_VALUE(0, 0, WireFault.RANGE),
    UNSEEN(0, Long.MAX_VALUE, WireFault.INDEX),
    TOTAL(0, Long.MAX_VALUE, WireFault.RANGE),
    LENGTH(0, ProtocolLimits.MAX_MESSAGE_BYTES, WireFault.RANGE),
    RAILS(0, 0xffff, WireFault.RAILS),
    // Its number in bits 4:0, how often it was posted in 15:8; of an answer also bit 5.
    STRIPE(0x100, 0xff1f, 0xff1f, WireFault.STRIPE),
    ANSWERED_STRIPE(0x100, 0xff3f, 0xff3f, WireFault.STRIPE),
    IMMEDIATE(0, 0xffff_ffffL, WireFault.IMMEDIATE);

    private final long least;
    private final long most;
    private final long bits;
    private final WireFault otherwise;

    Word(long least, long most, WireFault otherwise) {
      this(least, most, -1, otherwise);
    }

    Word(long least, long most, long bits, WireFault otherwise) {
      this.least = least;
      this.most = most;
      this.bits = bits;
      this.otherwise = otherwise;
    }

    WireFault check(long word) {
      boolean fits = word >= least && word <= most && (word & ~bits) == 0;
      return fits ? WireFault.NONE : otherwise;
    }
  }

  /** Whether a control message says why. */
  enum Reason {
    NEVER,
    PERHAPS,
    ALWAYS
  }

  private static final MessageType[] VALUES = values();

  private final int code;
  private final Word number;
  private final Word value;
  final Reason reason;

  MessageType(int code) {
    this(code, Word.NO_NUMBER, Word.NO_VALUE, Reason.NEVER);
  }

  MessageType(int code, Word number, Word value, Reason reason) {
    this.code = code;
    this.number = number;
    this.value = value;
    this.reason = reason;
  }

  public int code() {
    return code;
  }

  /** The type of that number, or null. */
  public static @Nullable MessageType of(int code) {
    return code >= 1 && code <= VALUES.length ? VALUES[code - 1] : null;
  }

  /** Whether it is a {@link ControlMessage}, of fixed size. */
  public boolean isControl() {
    return switch (this) {
      case CONNECT, ACCEPT, EAGER, RAIL_UPDATE, REDIRECT -> false;
      default -> true;
    };
  }

  /** Whether it is a listener's answer that makes no communicator. */
  boolean isFromNobody() {
    return this == REFUSE || this == REDIRECT;
  }

  /** What is wrong with the number, or else the value, of a control message of this type. */
  WireFault check(long ofNumber, long ofValue) {
    WireFault fault = number.check(ofNumber);
    return fault == WireFault.NONE ? value.check(ofValue) : fault;
  }
}
