package org.jofi.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A peer's registered memory, as the target of one-sided reads and writes: an address and a key per
 * rail. The application passes its encoded bytes to the peer, by any means. Immutable; any thread.
 *
 * <pre>
 *  0 u32 magic "jofm"   4 u16 version   6 u16 rails, 1 to 8   8 u64 length
 * 16 per rail: u64 address, u64 key
 * </pre>
 *
 * Integers are little-endian.
 */
public final class RemoteMemory {
  /** Largest number of rails. */
  public static final int MAX_RAILS = 8;

  /** Greatest length of the encoded form. */
  public static final int MAX_BYTES = 16 + MAX_RAILS * 16;

  private static final int MAGIC = 'j' | 'o' << 8 | 'f' << 16 | 'm' << 24;
  private static final int VERSION = 1;

  private final long lengthBytes;
  private final long[] addresses;
  private final long[] keys;

  private RemoteMemory(long lengthBytes, long[] addresses, long[] keys) {
    this.lengthBytes = lengthBytes;
    this.addresses = addresses;
    this.keys = keys;
  }

  /**
   * Creates one from these parts, which are copied.
   *
   * @param lengthBytes its length, 1 or more
   * @param addresses its first byte on each data rail, as that rail's fabric addresses it
   * @param keys its key on each data rail; as many as addresses
   * @return the memory that they describe
   * @throws IllegalArgumentException if there are not 1 to 8 of each, or the length is below 1
   */
  public static RemoteMemory of(long lengthBytes, long[] addresses, long[] keys) {
    if (lengthBytes < 1) {
      throw new IllegalArgumentException("remote memory of %d bytes".formatted(lengthBytes));
    }
    if (addresses.length < 1 || addresses.length > MAX_RAILS || keys.length != addresses.length) {
      throw new IllegalArgumentException(
          "remote memory with %d addresses and %d keys; needs 1 to %d of each"
              .formatted(addresses.length, keys.length, MAX_RAILS));
    }
    return new RemoteMemory(lengthBytes, addresses.clone(), keys.clone());
  }

  /**
   * Reads the encoded form.
   *
   * @param bytes what {@link #encode} returned at the peer, with nothing after it
   * @return the peer's memory
   * @throws IllegalArgumentException if the bytes are not such a form; the message says what is
   *     wrong with them
   */
  public static RemoteMemory decode(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (bytes.length < 32 || in.getInt() != MAGIC) {
      throw new IllegalArgumentException("%d bytes that name no memory".formatted(bytes.length));
    }
    int version = Short.toUnsignedInt(in.getShort());
    if (version != VERSION) {
      throw new IllegalArgumentException(
          "remote memory of version %d, this side reads version %d: run one release on both sides"
              .formatted(version, VERSION));
    }
    int rails = Short.toUnsignedInt(in.getShort());
    if (rails < 1 || rails > MAX_RAILS || bytes.length != 16 + rails * 16) {
      throw new IllegalArgumentException(
          "remote memory of %d rails in %d bytes".formatted(rails, bytes.length));
    }
    long lengthBytes = in.getLong();
    if (lengthBytes < 1) {
      throw new IllegalArgumentException("remote memory of %d bytes".formatted(lengthBytes));
    }
    long[] addresses = new long[rails];
    long[] keys = new long[rails];
    for (int rail = 0; rail < rails; rail++) {
      addresses[rail] = in.getLong();
      keys[rail] = in.getLong();
    }
    return new RemoteMemory(lengthBytes, addresses, keys);
  }

  /** {@return the encoded form, at most {@link #MAX_BYTES}; a fresh array} */
  public byte[] encode() {
    ByteBuffer out =
        ByteBuffer.allocate(16 + rails() * 16)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(MAGIC)
            .putShort((short) VERSION)
            .putShort((short) rails())
            .putLong(lengthBytes);
    for (int rail = 0; rail < rails(); rail++) {
      out.putLong(addresses[rail]).putLong(keys[rail]);
    }
    return out.array();
  }

  /** {@return its length in bytes, 1 or more} */
  public long lengthBytes() {
    return lengthBytes;
  }

  /** {@return the number of rails that it can be accessed through, 1 to {@link #MAX_RAILS}} */
  public int rails() {
    return keys.length;
  }

  /**
   * {@return the address of its first byte on this rail}
   *
   * @param rail from 0, below {@link #rails}
   */
  public long address(int rail) {
    return addresses[rail];
  }

  /**
   * {@return its key on this rail}
   *
   * @param rail from 0, below {@link #rails}
   */
  public long key(int rail) {
    return keys[rail];
  }

  /**
   * {@return a part of it, reached with the same keys}
   *
   * @param offset of the part's first byte, from 0
   * @param partBytes how long the part is, 1 or more
   * @throws IndexOutOfBoundsException if the part is not within it
   */
  public RemoteMemory slice(long offset, long partBytes) {
    if (partBytes < 1 || offset < 0 || offset > lengthBytes - partBytes) {
      throw new IndexOutOfBoundsException(
          "%d bytes at offset %d are not within %s".formatted(partBytes, offset, this));
    }
    long[] moved = new long[addresses.length];
    Arrays.setAll(moved, rail -> addresses[rail] + offset);
    return new RemoteMemory(partBytes, moved, keys);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RemoteMemory that
        && lengthBytes == that.lengthBytes
        && Arrays.equals(addresses, that.addresses)
        && Arrays.equals(keys, that.keys);
  }

  @Override
  public int hashCode() {
    return 31 * Long.hashCode(lengthBytes) + Arrays.hashCode(keys);
  }

  /** Its length and rails. Keys are left out. */
  @Override
  public String toString() {
    return "remote memory of %d bytes on %d rail(s)".formatted(lengthBytes, rails());
  }
}
