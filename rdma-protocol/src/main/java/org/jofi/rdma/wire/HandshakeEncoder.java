package org.jofi.rdma.wire;

import java.lang.foreign.MemorySegment;

/**
 * Writes the messages of the handshake.
 *
 * <pre>
 * CONNECT   0 header   32 reply address: u16 length, 96 bytes padded with 0   130 6 bytes reserved
 *         136 nonce, 16 bytes   152 u64 listener   160 rails
 *             then per control rail: u64 mailbox address, u64 key
 * ACCEPT    0 header   32 rails
 * rails     0 u64 features   8 u64 longest message   16 u8 data rails   17 u8 control rails
 *          18 u16 eager messages granted, 20 u32 the longest of them; reserved in CONNECT
 *          24 u64 endpoint
 *          32 addresses of control rails, then of data rails: u16 length, that many bytes;
 *             and after that of a data rail its u32 epoch
 * </pre>
 *
 * The reply address is where it is in every version, so that who speaks another one can be told.
 */
public final class HandshakeEncoder {
  /** The longest message, and the least length of a buffer to receive or write them in. */
  public static final int MAX_BYTES =
      HandshakeEncoder.RAILS_OF_REQUEST
          + HandshakeEncoder.ADDRESSES
          + 2 * ProtocolLimits.MAX_RAILS * (Short.BYTES + ProtocolLimits.MAX_ADDRESS_BYTES)
          + ProtocolLimits.MAX_RAILS * Integer.BYTES
          + ProtocolLimits.MAX_RAILS * 2 * Long.BYTES;

  static final int REPLY_ADDRESS = 32;
  static final int NONCE = 136;
  static final int LISTENER = 152;
  static final int RAILS_OF_REQUEST = 160;
  static final int RAILS_OF_ACCEPT = 32;
  static final int ADDRESSES = 32;

  private HandshakeEncoder() {}

  /**
   * Writes a request.
   *
   * @param memory with {@link #MAX_BYTES} from there on
   * @return its length
   */
  public static int put(MemorySegment memory, long at, ConnectRequest request) {
    memory.asSlice(at + REPLY_ADDRESS, NONCE - REPLY_ADDRESS).fill((byte) 0);
    putAddress(memory, at + REPLY_ADDRESS, request.replyAddress());
    memory.set(WireLayouts.LONG, at + NONCE, request.nonce().low());
    memory.set(WireLayouts.LONG, at + NONCE + Long.BYTES, request.nonce().high());
    memory.set(WireLayouts.LONG, at + LISTENER, request.listener());
    long end =
        putRails(
            memory,
            at + RAILS_OF_REQUEST,
            request.features(),
            request.maxMessageBytes(),
            request.rails(),
            EagerGrant.NONE);
    for (MailboxTarget target : request.mailbox()) {
      memory.set(WireLayouts.LONG, end, target.address());
      memory.set(WireLayouts.LONG, end + Long.BYTES, target.key());
      end += 2 * Long.BYTES;
    }
    int length = (int) (end - at);
    MessageHeader.put(memory, at, MessageType.CONNECT, length, request.id());
    return length;
  }

  /**
   * Writes an acceptance.
   *
   * @param memory with {@link #MAX_BYTES} from there on
   * @return its length
   */
  public static int put(MemorySegment memory, long at, ConnectAccept accept) {
    long end =
        putRails(
            memory,
            at + RAILS_OF_ACCEPT,
            accept.features(),
            accept.maxMessageBytes(),
            accept.rails(),
            accept.eager());
    int length = (int) (end - at);
    MessageHeader.put(memory, at, MessageType.ACCEPT, length, accept.id());
    return length;
  }

  private static long putRails(
      MemorySegment memory,
      long at,
      long features,
      long maxMessageBytes,
      RailAddresses rails,
      EagerGrant eager) {
    memory.set(WireLayouts.LONG, at, features);
    memory.set(WireLayouts.LONG, at + 8, maxMessageBytes);
    memory.set(
        WireLayouts.SHORT, at + 16, (short) (rails.data().size() | rails.control().size() << 8));
    memory.set(WireLayouts.SHORT, at + 18, (short) eager.credits());
    memory.set(WireLayouts.INT, at + 20, eager.bytes());
    memory.set(WireLayouts.LONG, at + 24, rails.endpoint());
    long end = at + ADDRESSES;
    for (FabricAddress address : rails.control()) {
      end = putAddress(memory, end, address);
    }
    for (int rail = 0; rail < rails.data().size(); rail++) {
      end = putAddress(memory, end, rails.data().get(rail));
      memory.set(WireLayouts.INT, end, rails.epochs().get(rail));
      end += Integer.BYTES;
    }
    return end;
  }

  private static long putAddress(MemorySegment memory, long at, FabricAddress address) {
    byte[] bytes = address.bytes();
    memory.set(WireLayouts.SHORT, at, (short) bytes.length);
    MemorySegment.copy(bytes, 0, memory, WireLayouts.BYTE, at + Short.BYTES, bytes.length);
    return at + Short.BYTES + bytes.length;
  }
}
