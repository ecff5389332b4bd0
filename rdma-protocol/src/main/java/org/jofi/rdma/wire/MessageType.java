package org.jofi.rdma.wire;

import org.jspecify.annotations.Nullable;

/** The messages that are sent rather than written into mailboxes. */
public enum MessageType {
  /** A connector asks a listener for a connection: {@link ConnectRequest}. */
  CONNECT(1),
  /** The listener's side accepts it: {@link ConnectAccept}. */
  ACCEPT(2),
  /** The listener's side does not: {@link ControlMessage}. */
  REFUSE(3),
  /** A side will post nothing more: {@link ControlMessage}. */
  CLOSE(4),
  /** A side knows of the other's close, and freed what the other could reach. */
  CLOSED(5),
  /** A side gave up, and completes nothing more. */
  ABORT(6),
  /** The true length of a message whose immediate data said {@code short}. */
  TRUE_LENGTH(7),
  /** A side waits, heard nothing for a while, and asks whether the other is there. */
  PING(8),
  /** It is. */
  PONG(9),
  /** The sender asks whether a stripe arrived whose write failed. */
  ASK(10),
  /** Whether it did; if not, only {@link #WRITTEN} counts for it from now on. */
  ANSWER(11),
  /** A stripe that was missing was written again, and is there. */
  WRITTEN(12),
  /** The connector knows the acceptor on every rail, so that the acceptor may write. */
  READY(13),
  /** Messages that are sent before, or instead of, an announcement: {@link EagerPacket}. */
  EAGER(14),
  /** How many of the eager messages the receiver has handled and taken: {@link ControlMessage}. */
  CREDIT(15),
  /** The sender waits for announcements, or does no longer: {@link ControlMessage}. */
  WANT(16),
  /** What becomes of a data rail: {@link RailUpdate}. */
  RAIL_UPDATE(17),
  /**
   * The receiver closed a rail, with what its queue held, and asks which messages arrived of those
   * from a receive on.
   */
  LACKING(18),
  /** A message arrived whole, as its sender knows. */
  ARRIVED(19),
  /** So many chunks of a staged message, from the first on, are in the blocks of its receive. */
  CHUNKS_WRITTEN(20),
  /** So many chunks, from the first on, are out of their blocks, which are free again. */
  CHUNKS_TAKEN(21);

  private static final MessageType[] VALUES = values();

  private final int code;

  MessageType(int code) {
    this.code = code;
  }

  /** Its number on the wire. */
  public int code() {
    return code;
  }

  /** The type of that number, or null. */
  public static @Nullable MessageType of(int code) {
    return code >= 1 && code <= VALUES.length ? VALUES[code - 1] : null;
  }

  /** Whether it is a {@link ControlMessage}, of fixed size. */
  public boolean isControl() {
    return code >= REFUSE.code && code != EAGER.code && code != RAIL_UPDATE.code;
  }
}
