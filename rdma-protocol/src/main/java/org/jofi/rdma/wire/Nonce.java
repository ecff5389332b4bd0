package org.jofi.rdma.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The 16 bytes of a listener's handle that a connector presents, as two little-endian words.
 *
 * @param low the first 8 bytes
 * @param high the last 8
 */
public record Nonce(long low, long high) {

  public static Nonce of(byte[] bytes) {
    if (bytes.length != ProtocolLimits.NONCE_BYTES) {
      throw new IllegalArgumentException("a nonce has 16 bytes, not " + bytes.length);
    }
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    return new Nonce(in.getLong(), in.getLong());
  }

  /** The bytes; a fresh array. */
  public byte[] bytes() {
    return ByteBuffer.allocate(ProtocolLimits.NONCE_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(low)
        .putLong(high)
        .array();
  }

  /** Not the bytes: they are a secret. */
  @Override
  public String toString() {
    return "nonce";
  }
}
