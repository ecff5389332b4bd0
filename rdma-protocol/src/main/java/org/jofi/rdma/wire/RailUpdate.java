package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Where a side is reached on a data rail, and which of the other side's endpoints on that rail must
 * not be open any more; of {@link MessageType#RAIL_UPDATE}. Endpoints of a rail are numbered in the
 * order in which they were opened: epochs. That one of an epoch is open says that all before it are
 * closed. Immutable; any thread.
 *
 * <pre>
 *  0 header, 32 bytes   32 u32 rail   36 u32 epoch   40 u32 known   44 u32 least
 * 48 u16 kind: 0 notice, 1 probe, 2 answer   50 u16 1 if ended, else 0
 * 52 u32 length of the address, 1 to 96   56 that many bytes, padded with 0 to a multiple of 8
 * </pre>
 *
 * @param kind what it is sent for
 * @param rail the data rail, 0 to 7
 * @param epoch of this side's endpoint on that rail, from 0: those before it are closed
 * @param ended whether this side uses the rail no more
 * @param known the latest epoch of the other side's endpoints on that rail that this side knows
 * @param least the first epoch of which the other side's endpoint may stay open: what was posted to
 *     those before it is lost, and must not land any more; 0 if all may
 * @param address of this side's endpoint
 */
public record RailUpdate(
    Kind kind, int rail, int epoch, boolean ended, int known, int least, FabricAddress address) {
  public static final int MAX_BYTES = RailUpdate.ADDRESS + ProtocolLimits.MAX_ADDRESS_BYTES;

  static final int ADDRESS = 56;

  private static final int RAIL = 32;
  private static final int EPOCH = 36;
  private static final int KNOWN = 40;
  private static final int LEAST = 44;
  private static final int KIND = 48;
  private static final int ENDED = 50;
  private static final int LENGTH = 52;
  private static final int ALIGNMENT = Long.BYTES;

  public enum Kind {
    /** It tells, over any control rail. */
    NOTICE(0),
    /** It tries the rail's link, over the control rail of the same NIC, and is to be answered. */
    PROBE(1),
    /** It answers a probe, over the same NIC. */
    ANSWER(2);

    private static final Kind[] VALUES = values();

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    public int code() {
      return code;
    }
  }

  /** Writes it to memory of {@link #MAX_BYTES}; returns its length. */
  public int put(MemorySegment memory, ConnectionId connectionId) {
    byte[] bytes = address.bytes();
    int end = end(bytes.length);
    memory.asSlice(ADDRESS, end - ADDRESS).fill((byte) 0);
    memory.set(WireLayouts.INT, RAIL, rail);
    memory.set(WireLayouts.INT, EPOCH, epoch);
    memory.set(WireLayouts.INT, KNOWN, known);
    memory.set(WireLayouts.INT, LEAST, least);
    memory.set(WireLayouts.SHORT, KIND, (short) kind.code);
    memory.set(WireLayouts.SHORT, ENDED, (short) (ended ? 1 : 0));
    memory.set(WireLayouts.INT, LENGTH, bytes.length);
    MemorySegment.copy(bytes, 0, memory, WireLayouts.BYTE, ADDRESS, bytes.length);
    MessageHeader.put(memory, MessageType.RAIL_UPDATE, end, connectionId);
    return end;
  }

  private static int end(int addressBytes) {
    return ADDRESS + (addressBytes + ALIGNMENT - 1 & -ALIGNMENT);
  }

  /** What is wrong with a message of so many bytes; with none, it can be read. */
  public static WireFault check(MemorySegment memory, long length) {
    WireFault header = MessageHeader.check(memory, length, MessageType.RAIL_UPDATE);
    if (header != WireFault.NONE) {
      return header;
    }
    if (length < ADDRESS) {
      return WireFault.TRUNCATED;
    }
    int rail = memory.get(WireLayouts.INT, RAIL);
    if (rail < 0 || rail >= ProtocolLimits.MAX_RAILS) {
      return WireFault.RAILS;
    }
    if (memory.get(WireLayouts.INT, EPOCH) < 0
        || memory.get(WireLayouts.INT, KNOWN) < 0
        || memory.get(WireLayouts.INT, LEAST) < 0
        || MessageHeader.word(memory, KIND) >= Kind.VALUES.length
        || MessageHeader.word(memory, ENDED) > 1) {
      return WireFault.RANGE;
    }
    int bytes = memory.get(WireLayouts.INT, LENGTH);
    if (!FabricAddress.isLength(bytes)) {
      return WireFault.RANGE;
    }
    if (length != end(bytes)) {
      return length < end(bytes) ? WireFault.TRUNCATED : WireFault.TRAILING;
    }
    return WireFault.NONE;
  }

  public static RailUpdate read(MemorySegment memory) {
    byte[] bytes =
        memory.asSlice(ADDRESS, memory.get(WireLayouts.INT, LENGTH)).toArray(ValueLayout.JAVA_BYTE);
    return new RailUpdate(
        Kind.VALUES[MessageHeader.word(memory, KIND)],
        memory.get(WireLayouts.INT, RAIL),
        memory.get(WireLayouts.INT, EPOCH),
        MessageHeader.word(memory, ENDED) == 1,
        memory.get(WireLayouts.INT, KNOWN),
        memory.get(WireLayouts.INT, LEAST),
        FabricAddress.of(bytes));
  }
}
