package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Where a side is reached on a data rail, of {@link MessageType#RAIL_UP} and {@link
 * MessageType#RAIL_SEEN}. Immutable; any thread.
 *
 * <pre>
 *  0 header, 32 bytes   32 u32 rail   36 u32 incarnation   40 u32 known
 * 44 u32 length of the address, 1 to 96   48 that many bytes, padded with 0 to a multiple of 8
 * </pre>
 *
 * @param rail the data rail, 0 to 7
 * @param incarnation which of this side's endpoints on that rail it is, one after the other, from
 *     0; {@link #CLOSED} if it was the last one
 * @param known the latest of the other side's endpoints on that rail that this side knows
 * @param address of the endpoint
 */
public record RailUp(int rail, int incarnation, int known, FabricAddress address) {
  /** The incarnation of an endpoint that was closed and has no successor. */
  public static final int CLOSED = Integer.MAX_VALUE;

  /** The longest message. */
  public static final int MAX_BYTES = RailUp.ADDRESS + ProtocolLimits.MAX_ADDRESS_BYTES;

  static final int ADDRESS = 48;

  private static final int RAIL = 32;
  private static final int INCARNATION = 36;
  private static final int KNOWN = 40;
  private static final int LENGTH = 44;
  private static final int ALIGNMENT = Long.BYTES;

  /**
   * Writes it.
   *
   * @param memory with {@link #MAX_BYTES} from there on
   * @param answers whether it answers the other side's
   * @return its length
   */
  public int put(MemorySegment memory, long at, ConnectionId connectionId, boolean answers) {
    byte[] bytes = address.bytes();
    int end = end(bytes.length);
    memory.asSlice(at + ADDRESS, end - ADDRESS).fill((byte) 0);
    memory.set(WireLayouts.INT, at + RAIL, rail);
    memory.set(WireLayouts.INT, at + INCARNATION, incarnation);
    memory.set(WireLayouts.INT, at + KNOWN, known);
    memory.set(WireLayouts.INT, at + LENGTH, bytes.length);
    MemorySegment.copy(bytes, 0, memory, WireLayouts.BYTE, at + ADDRESS, bytes.length);
    MessageHeader.put(
        memory, at, answers ? MessageType.RAIL_SEEN : MessageType.RAIL_UP, end, connectionId);
    return end;
  }

  private static int end(int addressBytes) {
    return ADDRESS + (addressBytes + ALIGNMENT - 1 & -ALIGNMENT);
  }

  /**
   * What is wrong with a message; with none, it can be {@linkplain #read read}.
   *
   * @param length how many bytes arrived
   */
  public static WireFault check(MemorySegment memory, long at, long length) {
    WireFault header = MessageHeader.check(memory, at, length);
    if (header != WireFault.NONE) {
      return header;
    }
    MessageType type = MessageHeader.type(memory, at);
    if (type != MessageType.RAIL_UP && type != MessageType.RAIL_SEEN) {
      return WireFault.TYPE;
    }
    if (MessageHeader.version(memory, at) != ProtocolLimits.VERSION) {
      return WireFault.VERSION;
    }
    if (length < ADDRESS) {
      return WireFault.TRUNCATED;
    }
    int rail = memory.get(WireLayouts.INT, at + RAIL);
    if (rail < 0 || rail >= ProtocolLimits.MAX_RAILS) {
      return WireFault.RAILS;
    }
    if (memory.get(WireLayouts.INT, at + INCARNATION) < 0
        || memory.get(WireLayouts.INT, at + KNOWN) < 0) {
      return WireFault.RANGE;
    }
    int bytes = memory.get(WireLayouts.INT, at + LENGTH);
    if (!FabricAddress.isLength(bytes)) {
      return WireFault.RANGE;
    }
    if (length != end(bytes)) {
      return length < end(bytes) ? WireFault.TRUNCATED : WireFault.TRAILING;
    }
    return WireFault.NONE;
  }

  /** Reads a checked message. */
  public static RailUp read(MemorySegment memory, long at) {
    byte[] bytes =
        memory
            .asSlice(at + ADDRESS, memory.get(WireLayouts.INT, at + LENGTH))
            .toArray(ValueLayout.JAVA_BYTE);
    return new RailUp(
        memory.get(WireLayouts.INT, at + RAIL),
        memory.get(WireLayouts.INT, at + INCARNATION),
        memory.get(WireLayouts.INT, at + KNOWN),
        FabricAddress.of(bytes));
  }
}
