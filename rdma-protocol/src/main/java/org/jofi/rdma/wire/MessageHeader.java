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
      MemorySegment memory, MessageType type, int lengthBytes, ConnectionId connectionId) {
    memory.set(WireLayouts.INT, 0, MAGIC);
    memory.set(WireLayouts.SHORT, VERSION, (short) ProtocolLimits.VERSION);
    memory.set(WireLayouts.SHORT, TYPE, (short) type.code());
    memory.set(WireLayouts.INT, LENGTH, lengthBytes);
    memory.set(WireLayouts.SHORT, TO, (short) connectionId.to());
    memory.set(WireLayouts.SHORT, TO_GENERATION, (short) connectionId.toGeneration());
    memory.set(WireLayouts.SHORT, FROM, (short) connectionId.from());
    memory.set(WireLayouts.SHORT, FROM_GENERATION, (short) connectionId.fromGeneration());
    memory.set(WireLayouts.INT, RESERVED, 0);
    memory.set(WireLayouts.LONG, ATTEMPT, connectionId.attempt());
  }

  /** What is wrong with the header of a message of so many bytes, of whatever version. */
  public static WireFault check(MemorySegment memory, long length) {
    if (length < BYTES || length > memory.byteSize()) {
      return WireFault.TRUNCATED;
    }
    if (memory.get(WireLayouts.INT, 0) != MAGIC) {
      return WireFault.MAGIC;
    }
    if (version(memory) == 0) {
      return WireFault.VERSION;
    }
    MessageType type = type(memory);
    if (type == null) {
      return WireFault.TYPE;
    }
    if (Integer.toUnsignedLong(memory.get(WireLayouts.INT, LENGTH)) != length) {
      return WireFault.LENGTH;
    }
    if (memory.get(WireLayouts.INT, RESERVED) != 0) {
      return WireFault.RESERVED;
    }
    return checkIds(memory, type);
  }

  /** The same, of a message that has to be of this version and of that type. */
  static WireFault check(MemorySegment memory, long length, MessageType expected) {
    WireFault fault = check(memory, length);
    if (fault != WireFault.NONE) {
      return fault;
    }
    if (type(memory) != expected) {
      return WireFault.TYPE;
    }
    return version(memory) == ProtocolLimits.VERSION ? WireFault.NONE : WireFault.VERSION;
  }

  private static WireFault checkIds(MemorySegment memory, MessageType type) {
    int to = to(memory);
    int from = from(memory);
    if (to > ProtocolLimits.MAX_COMMUNICATOR || from > ProtocolLimits.MAX_COMMUNICATOR) {
      return WireFault.COMMUNICATOR;
    }
    // A connector does not know the other side's communicator yet; a refusal has none.
    if ((type == MessageType.CONNECT) != (to == 0) || type.isFromNobody() != (from == 0)) {
      return WireFault.COMMUNICATOR;
    }
    return (to == 0) != (toGeneration(memory) == 0) || (from == 0) != (fromGeneration(memory) == 0)
        ? WireFault.GENERATION
        : WireFault.NONE;
  }

  public static int version(MemorySegment memory) {
    return word(memory, VERSION);
  }

  /** What the message is; null if unknown, which {@link #check} excludes. */
  public static @Nullable MessageType type(MemorySegment memory) {
    return MessageType.of(word(memory, TYPE));
  }

  /** The communicator that it is for; 0 for none. */
  public static int to(MemorySegment memory) {
    return word(memory, TO);
  }

  /** That communicator's generation; 0 for none. */
  public static int toGeneration(MemorySegment memory) {
    return word(memory, TO_GENERATION);
  }

  /** The communicator that it is from, by that side's numbers; 0 for none. */
  public static int from(MemorySegment memory) {
    return word(memory, FROM);
  }

  /** That communicator's generation; 0 for none. */
  public static int fromGeneration(MemorySegment memory) {
    return word(memory, FROM_GENERATION);
  }

  /** The connector's number for the connection. */
  public static long attempt(MemorySegment memory) {
    return memory.get(WireLayouts.LONG, ATTEMPT);
  }

  /** An unsigned field of 16 bits. */
  static int word(MemorySegment memory, long at) {
    return Short.toUnsignedInt(memory.get(WireLayouts.SHORT, at));
  }

  /** Whether a message is of a connection, which this side names so. */
  public static boolean isOf(MemorySegment memory, ConnectionId connectionId) {
    return attempt(memory) == connectionId.attempt()
        && to(memory) == connectionId.from()
        && toGeneration(memory) == connectionId.fromGeneration()
        && from(memory) == connectionId.to()
        && fromGeneration(memory) == connectionId.toGeneration();
  }

  /** The connection that a message is of, as its sender names it. */
  public static ConnectionId connectionId(MemorySegment memory) {
    return new ConnectionId(
        to(memory), toGeneration(memory), from(memory), fromGeneration(memory), attempt(memory));
  }
}
