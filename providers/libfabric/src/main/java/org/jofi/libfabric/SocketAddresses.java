package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_ADDR_STR;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_SOCKADDR;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_SOCKADDR_IN;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_SOCKADDR_IN6;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Reads addresses of endpoints in the known formats: sockaddr_in, sockaddr_in6, strings. */
final class SocketAddresses {
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int IPV4_BYTES = 16;
  private static final int IPV6_BYTES = 28;

  /** More than the longest address of any provider: FI_NAME_MAX is 64. */
  static final int MOST_BYTES = 256;

  private SocketAddresses() {}

  /**
   * An address as text: {@code 10.77.0.1:4711}, {@code fi_shm://...}, else hex. Empty if there is
   * none.
   */
  static String text(byte[] address) {
    if (address.length == 0) {
      return "";
    }
    try {
      int family = family(address);
      if (family == AF_INET && address.length >= IPV4_BYTES) {
        return host(address, 4, 4) + ":" + port(address);
      }
      if (family == AF_INET6 && address.length >= IPV6_BYTES) {
        return "[" + host(address, 8, 16) + "]:" + port(address);
      }
      return isText(address) ? string(address) : HexFormat.of().formatHex(address);
    } catch (UnknownHostException impossible) {
      return HexFormat.of().formatHex(address);
    }
  }

  /**
   * Why these bytes cannot be a peer's address, judged by the format of this NIC's addresses; null
   * if they can. The check is needed because providers read as many bytes as their format has,
   * however long the address is.
   *
   * @param format the NIC's address format, as in fi_info
   * @param own a local address, or empty if none is known yet
   */
  static @Nullable String problem(byte[] peer, int format, byte[] own) {
    if (peer.length == 0) {
      return "is empty";
    }
    if (peer.length > MOST_BYTES) {
      return "has %d bytes, more than any provider's".formatted(peer.length);
    }
    if (format == FI_SOCKADDR() || format == FI_SOCKADDR_IN() || format == FI_SOCKADDR_IN6()) {
      return socketProblem(peer, format, own);
    }
    if (format == FI_ADDR_STR()) {
      boolean ends = peer[peer.length - 1] == 0;
      return ends && isText(peer) ? null : "is no whole string: its closing zero is missing";
    }
    return own.length == 0 || peer.length == own.length
        ? null
        : "has %d bytes of %d".formatted(peer.length, own.length);
  }

  private static @Nullable String socketProblem(byte[] peer, int format, byte[] own) {
    int family = family(peer);
    int needed = family == AF_INET6 ? IPV6_BYTES : IPV4_BYTES;
    if (peer.length < needed) {
      return "has %d bytes of %d".formatted(peer.length, needed);
    }
    boolean fits =
        own.length > 0
            ? family == family(own)
            : (family == AF_INET && format != FI_SOCKADDR_IN6())
                || (family == AF_INET6 && format != FI_SOCKADDR_IN());
    return fits ? null : "is of address family " + family;
  }

  private static int family(byte[] address) {
    return address.length < 2
        ? -1
        : Short.toUnsignedInt(ByteBuffer.wrap(address).order(ByteOrder.nativeOrder()).getShort(0));
  }

  private static String host(byte[] address, int from, int length) throws UnknownHostException {
    return InetAddress.getByAddress(Arrays.copyOfRange(address, from, from + length))
        .getHostAddress();
  }

  private static int port(byte[] address) {
    return Short.toUnsignedInt(ByteBuffer.wrap(address).getShort(2));
  }

  private static boolean isText(byte[] address) {
    int end = address.length;
    while (end > 0 && address[end - 1] == 0) {
      end--;
    }
    for (int i = 0; i < end; i++) {
      if (address[i] < ' ' || address[i] > '~') {
        return false;
      }
    }
    return end > 2;
  }

  /** The text of an address in the format FI_ADDR_STR. */
  static String string(byte[] address) {
    return new String(address, StandardCharsets.US_ASCII).replace("\0", "");
  }
}
