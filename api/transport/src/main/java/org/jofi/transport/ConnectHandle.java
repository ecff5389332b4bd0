package org.jofi.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jofi.fabric.AddressText;

/**
 * What a connector needs to find a listener: at most {@link #MAX_BYTES} bytes. The application
 * passes them to the connector by any means, such as a file, a socket or a key-value store.
 * Immutable; any thread.
 *
 * <p>It holds the listener's nonce, a random secret: only a process that has the handle can
 * connect.
 *
 * <pre>
 *  0 u32 magic "jofi"   4 u16 version   6 u8 addresses   7 u8 length of each
 *  8 u64 listener       16 nonce, 16 bytes   32 addresses, up to 96 bytes
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

  /** Greatest length of a fabric address, and of all of them. */
  public static final int MAX_ADDRESS_BYTES = 96;

  /** Greatest number of addresses, one per rail. */
  public static final int MAX_ADDRESSES = 8;

  private static final int MAGIC = 'j' | 'o' << 8 | 'f' << 16 | 'i' << 24;
  private static final int VERSION = 2;
  private static final int FIXED_BYTES = 32;

  private final long listener;
  private final byte[] nonce;
  private final int rails;

  /** Of each rail, one after the other. */
  private final byte[] addresses;

  private ConnectHandle(long listener, byte[] nonce, int rails, byte[] addresses) {
    this.listener = listener;
    this.nonce = nonce;
    this.rails = rails;
    this.addresses = addresses;
  }

  /**
   * Creates a handle from these parts, which are copied.
   *
   * @param listener the listener's number within its process
   * @param nonce 16 bytes that cannot be guessed
   * @param addresses where requests for the listener are taken, rail by rail, from the first on:
   *     fi_getname(3); 1 to 8 of one length, which have 1 to 96 bytes together
   * @return the handle
   * @throws IllegalArgumentException if a number or a length is wrong
   */
  public static ConnectHandle of(long listener, byte[] nonce, List<byte[]> addresses) {
    if (nonce.length != NONCE_BYTES) {
      throw new IllegalArgumentException(
          "nonce must have %d bytes, has %d".formatted(NONCE_BYTES, nonce.length));
    }
    int rails = addresses.size();
    int length = rails == 0 ? 0 : addresses.getFirst().length;
    if (!fits(rails, length) || addresses.stream().anyMatch(other -> other.length != length)) {
      throw new IllegalArgumentException(
          "1 to %d addresses of one length must have 1 to %d bytes together, these have %s"
              .formatted(
                  MAX_ADDRESSES,
                  MAX_ADDRESS_BYTES,
                  addresses.stream().map(address -> address.length).toList()));
    }
    ByteBuffer all = ByteBuffer.allocate(rails * length);
    addresses.forEach(all::put);
    return new ConnectHandle(listener, nonce.clone(), rails, all.array());
  }

  /** Whether a handle has room for that many addresses of that length. */
  private static boolean fits(int rails, int length) {
    return rails >= 1
        && rails <= MAX_ADDRESSES
        && length >= 1
        && length <= MAX_ADDRESS_BYTES / rails;
  }

  /**
   * Reads an encoded handle. It may be followed by zero bytes, so that a buffer of fixed size can
   * hold it.
   *
   * @param bytes what {@link #encode} returned, with any number of zero bytes behind it
   * @return the handle, which keeps no reference to the array
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
    int rails = Byte.toUnsignedInt(in.get());
    int length = Byte.toUnsignedInt(in.get());
    if (!fits(rails, length) || FIXED_BYTES + rails * length > bytes.length) {
      throw new IllegalArgumentException(
          "connect handle of %d bytes cannot hold %d addresses of %d"
              .formatted(bytes.length, rails, length));
    }
    long listener = in.getLong();
    byte[] nonce = new byte[NONCE_BYTES];
    in.get(nonce);
    byte[] addresses = new byte[rails * length];
    in.get(addresses);
    while (in.hasRemaining()) {
      if (in.get() != 0) {
        throw new IllegalArgumentException(
            "connect handle is followed by something at byte " + (in.position() - 1));
      }
    }
    return new ConnectHandle(listener, nonce, rails, addresses);
  }

  /** {@return the encoded handle, 33 to 128 bytes; a fresh array} */
  public byte[] encode() {
    return ByteBuffer.allocate(FIXED_BYTES + addresses.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(MAGIC)
        .putShort((short) VERSION)
        .put((byte) rails)
        .put((byte) (addresses.length / rails))
        .putLong(listener)
        .put(nonce)
        .put(addresses)
        .array();
  }

  /** {@return the listener's number within its process} */
  public long listener() {
    return listener;
  }

  /** {@return the nonce, 16 bytes; a fresh copy} */
  public byte[] nonce() {
    return nonce.clone();
  }

  /** {@return how many addresses it has, one per rail from the first on} */
  public int rails() {
    return rails;
  }

  /**
   * The fabric address at which requests for the listener are taken, on a rail.
   *
   * @param rail which rail, from 0 up to, but not including, {@link #rails()}
   * @return the address; a fresh copy
   * @throws IndexOutOfBoundsException if it has none for that rail
   */
  public byte[] address(int rail) {
    int length = addresses.length / rails;
    int from = Objects.checkIndex(rail, rails) * length;
    return Arrays.copyOfRange(addresses, from, from + length);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ConnectHandle that
        && listener == that.listener
        && Arrays.equals(nonce, that.nonce)
        && rails == that.rails
        && Arrays.equals(addresses, that.addresses);
  }

  @Override
  public int hashCode() {
    return 31 * Long.hashCode(listener) + Arrays.hashCode(nonce);
  }

  /** The listener and its first address. The nonce is left out, since it is a secret. */
  @Override
  public String toString() {
    return "listener %d at %s".formatted(listener, AddressText.of(address(0)));
  }
}
