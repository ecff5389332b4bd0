package org.jofi.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jofi.fabric.AddressText;
import org.jofi.fabric.ProviderRelease;

/**
 * What a connector needs to find a listener: at most {@link #MAX_BYTES} bytes. The application
 * passes them to the connector by any means, such as a file, a socket or a key-value store.
 * Immutable; any thread.
 *
 * <p>It holds the listener's nonce, a random secret: only a process that has the handle can
 * connect. And it says what the listener's end speaks, so that a connector that speaks something
 * else knows before it connects.
 *
 * <pre>
 *  0 u32 magic "jofi"   4 u16 version   6 u8 addresses   7 u8 length of each
 *  8 u32 listener      12 u8 protocol  13 u8, u8 library's version  15 u8 length of the name
 * 16 nonce, 16 bytes   32 addresses, and behind them the provider's name, up to 96 bytes
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

  /**
   * Greatest length of a fabric address, and of all of them together with the provider's name, of
   * which each character is a byte.
   */
  public static final int MAX_ADDRESS_BYTES = 96;

  /** Greatest number of addresses, one per rail. */
  public static final int MAX_ADDRESSES = 8;

  private static final int MAGIC = 'j' | 'o' << 8 | 'f' << 16 | 'i' << 24;
  private static final int VERSION = 3;
  private static final int FIXED_BYTES = 32;
  private static final long MAX_LISTENER = 0xffff_ffffL;
  private static final int MAX_PROTOCOL = 255;

  private final long listener;
  private final byte[] nonce;
  private final int rails;

  /** Of each rail, one after the other. */
  private final byte[] addresses;

  private final int protocol;
  private final ProviderRelease release;

  private ConnectHandle(
      long listener,
      byte[] nonce,
      int rails,
      byte[] addresses,
      int protocol,
      ProviderRelease release) {
    this.listener = listener;
    this.nonce = nonce;
    this.rails = rails;
    this.addresses = addresses;
    this.protocol = protocol;
    this.release = release;
  }

  /**
   * Creates a handle from these parts, which are copied.
   *
   * @param listener the listener's number within its process, 0 to 2^32 - 1
   * @param nonce 16 bytes that cannot be guessed
   * @param addresses where requests for the listener are taken, rail by rail, from the first on:
   *     fi_getname(3); 1 to 8 of one length, which have 1 to 96 bytes together with the provider's
   *     name
   * @param protocol the version of the transport's protocol that the listener speaks, 0 to 255
   * @param release the provider that the listener uses; {@link ProviderRelease#UNTOLD} if there is
   *     no room for its name
   * @return the handle
   * @throws IllegalArgumentException if a number or a length is wrong
   */
  public static ConnectHandle of(
      long listener, byte[] nonce, List<byte[]> addresses, int protocol, ProviderRelease release) {
    if (nonce.length != NONCE_BYTES) {
      throw new IllegalArgumentException(
          "nonce must have %d bytes, has %d".formatted(NONCE_BYTES, nonce.length));
    }
    if (listener < 0 || listener > MAX_LISTENER || protocol < 0 || protocol > MAX_PROTOCOL) {
      throw new IllegalArgumentException(
          "no listener %d of protocol version %d".formatted(listener, protocol));
    }
    int rails = addresses.size();
    int length = rails == 0 ? 0 : addresses.getFirst().length;
    if (!fits(rails, length, release.provider().length())
        || addresses.stream().anyMatch(other -> other.length != length)) {
      throw new IllegalArgumentException(
          "1 to %d addresses of one length must have 1 to %d bytes together with the name '%s', these have %s"
              .formatted(
                  MAX_ADDRESSES,
                  MAX_ADDRESS_BYTES,
                  release.provider(),
                  addresses.stream().map(address -> address.length).toList()));
    }
    ByteBuffer all = ByteBuffer.allocate(rails * length);
    addresses.forEach(all::put);
    return new ConnectHandle(listener, nonce.clone(), rails, all.array(), protocol, release);
  }

  /** Whether a handle has room for that many addresses of that length, beside a name. */
  private static boolean fits(int rails, int length, int nameBytes) {
    return rails >= 1
        && rails <= MAX_ADDRESSES
        && length >= 1
        && rails * length + nameBytes <= MAX_ADDRESS_BYTES;
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
    long listener = Integer.toUnsignedLong(in.getInt());
    int protocol = Byte.toUnsignedInt(in.get());
    int major = Byte.toUnsignedInt(in.get());
    int minor = Byte.toUnsignedInt(in.get());
    int nameBytes = Byte.toUnsignedInt(in.get());
    if (!fits(rails, length, nameBytes)
        || FIXED_BYTES + rails * length + nameBytes > bytes.length) {
      throw new IllegalArgumentException(
          "connect handle of %d bytes cannot hold %d addresses of %d, and a name of %d"
              .formatted(bytes.length, rails, length, nameBytes));
    }
    byte[] nonce = new byte[NONCE_BYTES];
    in.get(nonce);
    byte[] addresses = new byte[rails * length];
    in.get(addresses);
    byte[] name = new byte[nameBytes];
    in.get(name);
    while (in.hasRemaining()) {
      if (in.get() != 0) {
        throw new IllegalArgumentException(
            "connect handle is followed by something at byte " + (in.position() - 1));
      }
    }
    // What is no letter of ASCII is refused by the record.
    String provider = new String(name, StandardCharsets.ISO_8859_1);
    return new ConnectHandle(
        listener, nonce, rails, addresses, protocol, new ProviderRelease(provider, major, minor));
  }

  /** {@return the encoded handle, 33 to 128 bytes; a fresh array} */
  public byte[] encode() {
    byte[] name = release.provider().getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocate(FIXED_BYTES + addresses.length + name.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(MAGIC)
        .putShort((short) VERSION)
        .put((byte) rails)
        .put((byte) (addresses.length / rails))
        .putInt((int) listener)
        .put((byte) protocol)
        .put((byte) release.major())
        .put((byte) release.minor())
        .put((byte) name.length)
        .put(nonce)
        .put(addresses)
        .put(name)
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

  /** {@return the version of the transport's protocol that the listener speaks} */
  public int protocol() {
    return protocol;
  }

  /** {@return the provider that the listener uses, and of which version its library is} */
  public ProviderRelease release() {
    return release;
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
        && protocol == that.protocol
        && release.equals(that.release)
        && Arrays.equals(addresses, that.addresses);
  }

  @Override
  public int hashCode() {
    return 31 * Long.hashCode(listener) + Arrays.hashCode(nonce);
  }

  /**
   * The listener, its first address and its provider. The nonce is left out, since it is a secret.
   */
  @Override
  public String toString() {
    return "listener %d at %s%s"
        .formatted(
            listener,
            AddressText.of(address(0)),
            release.isUntold() ? "" : " (%s)".formatted(release));
  }
}
