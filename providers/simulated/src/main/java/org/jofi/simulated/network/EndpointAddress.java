package org.jofi.simulated.network;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An endpoint's address in its provider's format: the NIC's number and a port, with the layout and
 * length of struct efa_ep_addr, struct cxip_addr or sockaddr_in.
 */
public final class EndpointAddress {
  private static final int EFA_BYTES = 32;
  private static final int CXI_BYTES = 8;
  private static final short VNI = 10;
  private static final short AF_INET = 2;
  private static final int FIRST_TCP_PORT = 49152;

  private EndpointAddress() {}

  /** NIC and port in one number, by which the network finds the endpoint. */
  public static long key(int nic, int port) {
    return (long) nic << 16 | port;
  }

  /** The NIC's number in a key. */
  public static int nicOf(long key) {
    return (int) (key >>> 16);
  }

  /** The address of an endpoint, with the length that its profile has. */
  public static byte[] encode(int bytes, long key) {
    int nic = nicOf(key);
    int port = (int) key & 0xFFFF;
    ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    switch (bytes) {
      case EFA_BYTES ->
          buffer
              .putShort(0, (short) 0x80FE)
              .putInt(12, nic)
              .putShort(16, (short) port)
              .putInt(20, qkey(key));
      case CXI_BYTES -> buffer.putInt(0, port | nic << 9).putShort(4, VNI);
      default ->
          buffer
              .putShort(0, AF_INET)
              .putShort(2, Short.reverseBytes((short) (FIRST_TCP_PORT + port)))
              .put(4, (byte) 10)
              .put(5, (byte) 77)
              .put(6, (byte) (nic >>> 8))
              .put(7, (byte) nic);
    }
    return buffer.array();
  }

  /** The key in an address; -1 if no endpoint of this network can have it. */
  public static long decode(byte[] address) {
    long key = read(address);
    return (key & 0xFFFF) == 0 ? -1 : key;
  }

  private static long read(byte[] address) {
    ByteBuffer buffer = ByteBuffer.wrap(address).order(ByteOrder.LITTLE_ENDIAN);
    return switch (address.length) {
      case EFA_BYTES -> {
        long key = key(buffer.getInt(12), buffer.getShort(16) & 0xFFFF);
        yield buffer.getInt(20) == qkey(key) ? key : -1;
      }
      case CXI_BYTES -> {
        int packed = buffer.getInt(0);
        yield buffer.getShort(4) == VNI ? key(packed >>> 9, packed & 0x1FF) : -1;
      }
      default -> {
        int port = (Short.reverseBytes(buffer.getShort(2)) & 0xFFFF) - FIRST_TCP_PORT;
        int nic = (buffer.get(6) & 0xFF) << 8 | (buffer.get(7) & 0xFF);
        yield buffer.getShort(0) == AF_INET && port > 0 ? key(nic, port) : -1;
      }
    };
  }

  private static int qkey(long key) {
    return (int) (key * 0x9E3779B1L);
  }
}
