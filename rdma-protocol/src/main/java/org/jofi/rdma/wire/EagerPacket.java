package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;

/**
 * Messages that are sent before, or instead of, an announcement of their receives: one after the
 * other in one send. Static and without allocation.
 *
 * <pre>
 *  0 header, 32 bytes   32 u64 ordinal of the first message, from 1
 * 40 u64 receives seen by the sender (their highest index, &gt;= 0)
 * 48 messages: u32 tag, u32 length, that many bytes, padded with anything to a multiple of 8
 * </pre>
 *
 * <p>To write: {@link #begin}, then per message {@link #putMessage}, its payload and {@link
 * #after}; then the header, of which the length is known then. To read a checked packet: from
 * offset {@link #HEADER_BYTES} on with {@link #next}, until the offset is the packet's length.
 * Offsets count from the packet's start.
 */
public final class EagerPacket {
  /** What is before the first message. */
  public static final int HEADER_BYTES = 48;

  /** What is before the payload of each message. */
  public static final int MESSAGE_BYTES = 8;

  public static final int MOST_MESSAGES = 128;

  private static final int ORDINAL = MessageHeader.BYTES;
  private static final int SEEN = 40;
  private static final int ALIGNMENT = Long.BYTES;

  private EagerPacket() {}

  /** Writes what is before the messages, but for the header; returns the offset of the first. */
  public static int begin(MemorySegment memory, long ordinal, long seen) {
    memory.set(WireLayouts.LONG, ORDINAL, ordinal);
    memory.set(WireLayouts.LONG, SEEN, seen);
    return HEADER_BYTES;
  }

  /** Writes what is before a message's payload, which the caller copies; returns its offset. */
  public static int putMessage(MemorySegment memory, int offset, int tag, int lengthBytes) {
    memory.set(WireLayouts.INT, offset, tag);
    memory.set(WireLayouts.INT, offset + Integer.BYTES, lengthBytes);
    return offset + MESSAGE_BYTES;
  }

  /** The offset of what follows a payload: the next message, or the packet's end. */
  public static int after(int payloadOffset, int lengthBytes) {
    return payloadOffset + (lengthBytes + ALIGNMENT - 1 & -ALIGNMENT);
  }

  /** What is wrong with a packet of so many bytes; with none, it can be read. */
  public static WireFault check(MemorySegment memory, long length) {
    WireFault header = MessageHeader.check(memory, length, MessageType.EAGER);
    if (header != WireFault.NONE) {
      return header;
    }
    if (length < HEADER_BYTES + MESSAGE_BYTES) {
      return WireFault.TRUNCATED;
    }
    long ordinal = ordinal(memory);
    // The ordinals of the other messages must not overflow either.
    if (ordinal < 1 || ordinal > Long.MAX_VALUE - MOST_MESSAGES || seen(memory) < 0) {
      return WireFault.INDEX;
    }
    return checkMessages(memory, length);
  }

  /** The offset stays within an int: as many messages as are allowed take 8 MiB. */
  private static WireFault checkMessages(MemorySegment memory, long length) {
    int offset = HEADER_BYTES;
    for (int messages = 0; offset < length; messages++) {
      if (messages == MOST_MESSAGES) {
        return WireFault.TRAILING;
      }
      if (length - offset < MESSAGE_BYTES) {
        return WireFault.TRUNCATED;
      }
      int bytes = lengthBytes(memory, offset);
      if (bytes < 0 || bytes > EagerGrant.MOST_BYTES) {
        return WireFault.RANGE;
      }
      offset = after(offset + MESSAGE_BYTES, bytes);
    }
    return offset == length ? WireFault.NONE : WireFault.TRUNCATED;
  }

  /** The ordinal of the first message, from 1. */
  public static long ordinal(MemorySegment memory) {
    return memory.get(WireLayouts.LONG, ORDINAL);
  }

  /** How long a packet is that has one message of that length. */
  public static int bytesFor(int lengthBytes) {
    return after(HEADER_BYTES + MESSAGE_BYTES, lengthBytes);
  }

  /** The highest index of the receives that the sender had seen, or 0. */
  public static long seen(MemorySegment memory) {
    return memory.get(WireLayouts.LONG, SEEN);
  }

  /** Which receives take the message at an offset. */
  public static int tag(MemorySegment memory, int offset) {
    return memory.get(WireLayouts.INT, offset);
  }

  /** How long the payload of the message at an offset is; {@link #MESSAGE_BYTES} further on. */
  public static int lengthBytes(MemorySegment memory, int offset) {
    return memory.get(WireLayouts.INT, offset + Integer.BYTES);
  }

  /** The offset of what follows the message at an offset: the next one, or the packet's end. */
  public static int next(MemorySegment memory, int offset) {
    return after(offset + MESSAGE_BYTES, lengthBytes(memory, offset));
  }
}
