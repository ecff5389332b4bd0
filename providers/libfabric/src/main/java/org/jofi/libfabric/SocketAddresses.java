package org.jofi.libfabric;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Addresses of endpoints, in the formats that can be read: sockaddr_in, sockaddr_in6, strings. */
final class SocketAddresses {
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int IPV4_BYTES = 16;
  private static final int IPV6_BYTES = 28;

  /** Longest address that any provider has, with room: FI_NAME_MAX is 64. */
  static final int MOST_BYTES = 256;

  private SocketAddresses() {}

  /** For people: {@code 10.77.0.1:4711}, {@code fi_shm://...}, else hex. Empty for none. */
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
   * Why a peer's address cannot be one, given how an address of this NIC looks; null if it can.
   * Providers read as many bytes as their format has, whatever they were given.
   *
   * @param own an address of this side, or empty if none is known yet
   */
  static @Nullable String problem(byte[] peer, byte[] own) {
    if (peer.length == 0) {
      return "is empty";
    }
    if (peer.length > MOST_BYTES) {
      return "has %d bytes, more than any provider's".formatted(peer.length);
    }
    if (own.length == 0) {
      return null;
    }
    int family = family(own);
    if (family == AF_INET || family == AF_INET6) {
      int needed = family(peer) == AF_INET6 ? IPV6_BYTES : IPV4_BYTES;
      if (peer.length < needed) {
        return "has %d bytes of %d".formatted(peer.length, needed);
      }
      return family(peer) == family ? null : "is of address family %d".formatted(family(peer));
    }
    if (isText(own)) {
      boolean ends = peer[peer.length - 1] == 0;
      return ends && isText(peer) ? null : "is no whole string: its closing zero is missing";
    }
    return peer.length == own.length
        ? null
        : "has %d bytes of %d".formatted(peer.length, own.length);
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

  private static String string(byte[] address) {
    return new String(address, StandardCharsets.US_ASCII).replace("\0", "");
  }
}
