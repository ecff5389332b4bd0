package org.jofi.ranks;

/**
 * Where a server is, as users type it: a host, and optionally a port. An IPv6 address may be in
 * brackets, and must be if a port follows.
 */
record Address(String host, int port) {
  /**
   * Reads an address.
   *
   * @param origin where it comes from, for the message
   * @throws IllegalArgumentException if the text is not such an address
   */
  static Address of(String address, String origin) {
    boolean bracketed = address.startsWith("[") && address.indexOf(']') > 0;
    boolean bare = !bracketed && address.indexOf(':') != address.lastIndexOf(':');
    int colon = bare ? -1 : address.indexOf(':', bracketed ? address.indexOf(']') : 0);
    String host = colon < 0 ? address : address.substring(0, colon);
    if (bracketed && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    int port = Placement.USUAL_PORT;
    try {
      if (colon >= 0) {
        port = Integer.parseInt(address.substring(colon + 1));
      }
    } catch (NumberFormatException e) {
      port = 0;
    }
    if (host.isEmpty() || host.startsWith("[") || port < 1 || port > 65_535) {
      throw new IllegalArgumentException(
          "%s takes HOST or HOST:PORT, not '%s'; an IPv6 address with a port is [ADDRESS]:PORT"
              .formatted(origin, address));
    }
    return new Address(host, port);
  }
}
