package org.jofi.rdma.wire;

import java.util.Arrays;
import org.jofi.fabric.AddressText;

/** Where an endpoint is reached, as its fabric says it: fi_getname(3). Immutable; any thread. */
public final class FabricAddress {
  private final byte[] bytes;

  private FabricAddress(byte[] bytes) {
    this.bytes = bytes;
  }

  /** An address of these bytes, 1 to 96, which are copied. */
  public static FabricAddress of(byte[] bytes) {
    if (!isLength(bytes.length)) {
      throw new IllegalArgumentException(
          "a fabric address has 1 to %d bytes, not %d"
              .formatted(ProtocolLimits.MAX_ADDRESS_BYTES, bytes.length));
    }
    return new FabricAddress(bytes.clone());
  }

  static boolean isLength(int length) {
    return length >= 1 && length <= ProtocolLimits.MAX_ADDRESS_BYTES;
  }

  /** The bytes; a fresh copy. */
  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FabricAddress that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return AddressText.of(bytes);
  }
}
