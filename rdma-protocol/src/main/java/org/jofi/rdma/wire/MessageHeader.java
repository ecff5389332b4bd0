package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The first 32 bytes of every message that is sent. They are the same in every version of the
 * protocol.
 *
 * <pre>
 *  0 u32 magic "jofp"     4 u16 version             6 u16 type          8 u32 length of the message
 * 12 u16 to communicator 14 u16 its generation     16 u16 from         18 u16 its generation
 * 20 u32 reserved        24 u64 attempt
 * </pre>
 *
 * <p>The attempt is a number that the connector drew at random; all messages of a connection carry
 * it, so that an answer to another attempt is told apart.
 */
public final class MessageHeader {
  public static final int BYTES = 32;

  private static final int VERSION = 4;
  private static final int TYPE = 6;
  private static final int LENGTH = 8;
  private static final int TO = 12;
  private static final int TO_GENERATION = 14;
  private static final int FROM = 16;
  private static final int FROM_GENERATION = 18;
  private static final int RESERVED = 20;
  private static final int ATTEMPT = 24;

  private static final int MAGIC = 'j' | 'o' << 8 | 'f' << 16 | 'p' << 24;

  private MessageHeader() {}

  public static void put(
      MemorySegment memory, long at, MessageType type, int lengthBytes, ConnectionId connectionId) {
    memory.set(WireLayouts.INT, at, MAGIC);
    memory.set(WireLayouts.SHORT, at + VERSION, (short) ProtocolLimits.VERSION);
    memory.set(WireLayouts.SHORT, at + TYPE, (short) type.code());
    memory.set(WireLayouts.INT, at + LENGTH, lengthBytes);
    memory.set(WireLayouts.SHORT, at + TO, (short) connectionId.to());
    memory.set(WireLayouts.SHORT, at + TO_GENERATION, (short) connectionId.toGeneration());
    memory.set(WireLayouts.SHORT, at + FROM, (short) connectionId.from());
    memory.set(WireLayouts.SHORT, at + FROM_GENERATION, (short) connectionId.fromGeneration());
    memory.set(WireLayouts.INT, at + RESERVED, 0);
    memory.set(WireLayouts.LONG, at + ATTEMPT, connectionId.attempt());
  }

  /** What is wrong with the header of a message of so many bytes, of whatever version. */
  public static WireFault check(MemorySegment memory, long at, long length) {
    if (length < BYTES || at < 0 || length > memory.byteSize() - at) {
      return WireFault.TRUNCATED;
    }
    if (memory.get(WireLayouts.INT, at) != MAGIC) {
      return WireFault.MAGIC;
    }
    if (version(memory, at) == 0) {
      return WireFault.VERSION;
    }
    MessageType type = type(memory, at);
    if (type == null) {
      return WireFault.TYPE;
    }
    if (Integer.toUnsignedLong(memory.get(WireLayouts.INT, at + LENGTH)) != length) {
      return WireFault.LENGTH;
    }
    if (memory.get(WireLayouts.INT, at + RESERVED) != 0) {
      return WireFault.RESERVED;
    }
    return checkIds(memory, at, type);
  }

  /** The same, of a message that has to be of this version and of that type. */
  static WireFault check(MemorySegment memory, long at, long length, MessageType expected) {
    WireFault fault = check(memory, at, length);
    if (fault != WireFault.NONE) {
      return fault;
    }
    if (type(memory, at) != expected) {
      return WireFault.TYPE;
    }
    return version(memory, at) == ProtocolLimits.VERSION ? WireFault.NONE : WireFault.VERSION;
  }

  private static WireFault checkIds(MemorySegment memory, long at, MessageType type) {
    int to = to(memory, at);
    int from = from(memory, at);
    if (to > ProtocolLimits.MAX_COMMUNICATOR || from > ProtocolLimits.MAX_COMMUNICATOR) {
      return WireFault.COMMUNICATOR;
    }
    // A connector does not know the other side's communicator yet; a refusal has none.
    if ((type == MessageType.CONNECT) != (to == 0) || (type == MessageType.REFUSE) != (from == 0)) {
      return WireFault.COMMUNICATOR;
    }
    return (to == 0) != (toGeneration(memory, at) == 0)
            || (from == 0) != (fromGeneration(memory, at) == 0)
        ? WireFault.GENERATION
        : WireFault.NONE;
  }

  public static int version(MemorySegment memory, long at) {
    return word(memory, at + VERSION);
  }

  /** What the message is; null if unknown, which {@link #check} excludes. */
  public static @Nullable MessageType type(MemorySegment memory, long at) {
    return MessageType.of(word(memory, at + TYPE));
  }

  /** The communicator that it is for; 0 for none. */
  public static int to(MemorySegment memory, long at) {
    return word(memory, at + TO);
  }

  /** That communicator's generation; 0 for none. */
  public static int toGeneration(MemorySegment memory, long at) {
    return word(memory, at + TO_GENERATION);
  }

  /** The communicator that it is from, by that side's numbers; 0 for none. */
  public static int from(MemorySegment memory, long at) {
    return word(memory, at + FROM);
  }

  /** That communicator's generation; 0 for none. */
  public static int fromGeneration(MemorySegment memory, long at) {
    return word(memory, at + FROM_GENERATION);
  }

  /** The connector's number for the connection. */
  public static long attempt(MemorySegment memory, long at) {
    return memory.get(WireLayouts.LONG, at + ATTEMPT);
  }

  /** An unsigned field of 16 bits. */
  static int word(MemorySegment memory, long at) {
    return Short.toUnsignedInt(memory.get(WireLayouts.SHORT, at));
  }

  /** Whether a message is of a connection, which this side names so. */
  public static boolean isOf(MemorySegment memory, long at, ConnectionId connectionId) {
    return attempt(memory, at) == connectionId.attempt()
        && to(memory, at) == connectionId.from()
        && toGeneration(memory, at) == connectionId.fromGeneration()
        && from(memory, at) == connectionId.to()
        && fromGeneration(memory, at) == connectionId.toGeneration();
  }

  /** The connection that a message is of, as its sender names it. */
  public static ConnectionId connectionId(MemorySegment memory, long at) {
    return new ConnectionId(
        to(memory, at),
        toGeneration(memory, at),
        from(memory, at),
        fromGeneration(memory, at),
        attempt(memory, at));
  }
}
