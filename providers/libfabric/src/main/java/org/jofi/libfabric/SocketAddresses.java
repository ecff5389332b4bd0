package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_ADDR_STR;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_SOCKADDR;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_SOCKADDR_IN;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_SOCKADDR_IN6;

import org.jofi.fabric.AddressText;
import org.jspecify.annotations.Nullable;

/** Judges addresses of endpoints in the known formats: sockaddr_in, sockaddr_in6, strings. */
final class SocketAddresses {
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int IPV4_BYTES = 16;
  private static final int IPV6_BYTES = 28;

  /** Where a sockaddr_in6 has the address, and the interface's number. */
  private static final int HOST = 8;

  private static final int SCOPE = 24;

  /** More than the longest address of any provider: FI_NAME_MAX is 64. */
  static final int MOST_BYTES = 256;

  private SocketAddresses() {}

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
      return ends && AddressText.isText(peer)
          ? null
          : "is no whole string: its closing zero is missing";
    }
    return own.length == 0 || peer.length == own.length
        ? null
        : "has %d bytes of %d".formatted(peer.length, own.length);
  }

  /**
   * A peer's address as it is reached from here: an IPv6 address of one link only (fe80::/10) goes
   * with the number of the interface, which is the peer's own number of its interface; here it is
   * that of the interface which has this side's address. Other addresses are as they are.
   */
  static byte[] fromHere(byte[] peer, byte[] own) {
    if (!isLinkLocal(peer) || !isLinkLocal(own)) {
      return peer;
    }
    byte[] here = peer.clone();
    System.arraycopy(own, SCOPE, here, SCOPE, Integer.BYTES);
    return here;
  }

  private static boolean isLinkLocal(byte[] address) {
    return address.length >= IPV6_BYTES
        && AddressText.family(address) == AF_INET6
        && (address[HOST] & 0xff) == 0xfe
        && (address[HOST + 1] & 0xc0) == 0x80;
  }

  private static @Nullable String socketProblem(byte[] peer, int format, byte[] own) {
    int family = AddressText.family(peer);
    int needed = family == AF_INET6 ? IPV6_BYTES : IPV4_BYTES;
    if (peer.length < needed) {
      return "has %d bytes of %d".formatted(peer.length, needed);
    }
    boolean fits =
        own.length > 0
            ? family == AddressText.family(own)
            : (family == AF_INET && format != FI_SOCKADDR_IN6())
                || (family == AF_INET6 && format != FI_SOCKADDR_IN());
    return fits ? null : "is of address family " + family;
  }
}
