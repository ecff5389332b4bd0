package org.jofi.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * What a connector needs to find a listener: at most {@link #MAX_BYTES} bytes. The application
 * passes them to the connector by any means, such as a file, a socket or a key-value store.
 * Immutable; any thread.
 *
 * <p>It holds the listener's nonce, a random secret: only a process that has the handle can
 * connect.
 *
 * <pre>
 *  0 u32 magic "jofi"   4 u16 version   6 u16 length of the address
 *  8 u64 listener       16 nonce, 16 bytes   32 address, up to 96 bytes
 * </pre>
 *
 * Integers are little-endian.
 */
public final class ConnectHandle {
  /**
   * Greatest length of an encoded handle: NCCL's network plugin API (ncclNet) has room for this
   * many bytes.
   */
  public static final int MAX_BYTES = 128;

  /** Length of the nonce. */
  public static final int NONCE_BYTES = 16;

  /** Greatest length of a fabric address. */
  public static final int MAX_ADDRESS_BYTES = 96;

  private static final int MAGIC = 'j' | 'o' << 8 | 'f' << 16 | 'i' << 24;
  private static final int VERSION = 1;
  private static final int FIXED_BYTES = 32;

  private final long listener;
  private final byte[] nonce;
  private final byte[] address;

  private ConnectHandle(long listener, byte[] nonce, byte[] address) {
    this.listener = listener;
    this.nonce = nonce;
    this.address = address;
  }

  /**
   * Creates a handle from these parts, which are copied.
   *
   * @param listener the listener's number within its process
   * @param nonce 16 bytes that cannot be guessed
   * @param address fabric address of the endpoint that takes connection requests for the listener:
   *     fi_getname(3); 1 to 96 bytes
   * @throws IllegalArgumentException if a length is wrong
   */
  public static ConnectHandle of(long listener, byte[] nonce, byte[] address) {
    if (nonce.length != NONCE_BYTES) {
      throw new IllegalArgumentException(
          "nonce must have %d bytes, has %d".formatted(NONCE_BYTES, nonce.length));
    }
    if (address.length < 1 || address.length > MAX_ADDRESS_BYTES) {
      throw new IllegalArgumentException(
          "address must have 1 to %d bytes, has %d".formatted(MAX_ADDRESS_BYTES, address.length));
    }
    return new ConnectHandle(listener, nonce.clone(), address.clone());
  }

  /**
   * Reads an encoded handle. It may be followed by zero bytes, so that a buffer of fixed size can
   * hold it.
   *
   * @throws IllegalArgumentException if the bytes are not a handle, or a handle of another version;
   *     the message says what is wrong
   */
  public static ConnectHandle decode(byte[] bytes) {
    if (bytes.length < FIXED_BYTES) {
      throw new IllegalArgumentException(
          "a connect handle has more than %d bytes, this has %d"
              .formatted(FIXED_BYTES, bytes.length));
    }
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int magic = in.getInt();
    if (magic != MAGIC) {
      throw new IllegalArgumentException(
          "not a connect handle: begins with 0x%08x".formatted(magic));
    }
    int version = Short.toUnsignedInt(in.getShort());
    if (version != VERSION) {
      throw new IllegalArgumentException(
          "connect handle of version %d, this side reads version %d: run one release on both sides"
              .formatted(version, VERSION));
    }
    int length = Short.toUnsignedInt(in.getShort());
    if (length < 1 || length > MAX_ADDRESS_BYTES || FIXED_BYTES + length > bytes.length) {
      throw new IllegalArgumentException(
          "connect handle of %d bytes cannot hold an address of %d"
              .formatted(bytes.length, length));
    }
    long listener = in.getLong();
    byte[] nonce = new byte[NONCE_BYTES];
    in.get(nonce);
    byte[] address = new byte[length];
    in.get(address);
    while (in.hasRemaining()) {
      if (in.get() != 0) {
        throw new IllegalArgumentException(
            "connect handle is followed by something at byte " + (in.position() - 1));
      }
    }
    return new ConnectHandle(listener, nonce, address);
  }

  /** The encoded handle, 33 to 128 bytes; a fresh array. */
  public byte[] encode() {
    return ByteBuffer.allocate(FIXED_BYTES + address.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(MAGIC)
        .putShort((short) VERSION)
        .putShort((short) address.length)
        .putLong(listener)
        .put(nonce)
        .put(address)
        .array();
  }

  /** The listener's number within its process. */
  public long listener() {
    return listener;
  }

  /** The nonce; a fresh copy. */
  public byte[] nonce() {
    return nonce.clone();
  }

  /**
   * The fabric address of the endpoint that takes connection requests for the listener; a fresh
   * copy.
   */
  public byte[] address() {
    return address.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ConnectHandle that
        && listener == that.listener
        && Arrays.equals(nonce, that.nonce)
        && Arrays.equals(address, that.address);
  }

  @Override
  public int hashCode() {
    return 31 * Long.hashCode(listener) + Arrays.hashCode(nonce);
  }

  /** The listener and its address. The nonce is left out, since it is a secret. */
  @Override
  public String toString() {
    return "listener %d at %s".formatted(listener, HexFormat.of().formatHex(address));
  }
}
