package org.jofi.fabric;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** Addresses of endpoints as people write them, in the formats of fi_getname(3) that are known. */
public final class AddressText {
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int IPV4_BYTES = 16;
  private static final int IPV6_BYTES = 28;
  private static final int LEAST_TEXT_BYTES = 3;

  private AddressText() {}

  /**
   * An address as text: {@code 10.77.0.1:4711} of a sockaddr_in, {@code [fd00:0:0:0:0:0:0:1]:4711}
   * of a sockaddr_in6, {@code fi_shm://...} of a string, else hexadecimal digits.
   *
   * @param address as fi_getname(3) gives it
   * @return the text; empty for no bytes
   */
  public static String of(byte[] address) {
    try {
      byte[] ip = ip(address);
      if (ip.length > 0) {
        String host = InetAddress.getByAddress(ip).getHostAddress();
        return (ip.length == 4 ? host : "[" + host + "]") + ":" + port(address);
      }
      return isText(address) ? string(address) : HexFormat.of().formatHex(address);
    } catch (UnknownHostException impossible) {
      return HexFormat.of().formatHex(address);
    }
  }

  /**
   * {@return the IP address in a socket's address, 4 or 16 bytes, a fresh array; no bytes if it is
   * of another format}
   *
   * @param address as fi_getname(3) gives it
   */
  public static byte[] ip(byte[] address) {
    int family = family(address);
    if (family == AF_INET && address.length >= IPV4_BYTES) {
      return Arrays.copyOfRange(address, 4, 8);
    }
    return family == AF_INET6 && address.length >= IPV6_BYTES
        ? Arrays.copyOfRange(address, 8, 24)
        : new byte[0];
  }

  /**
   * {@return whether these are printable characters, and zeros behind them}
   *
   * @param address as fi_getname(3) gives it
   */
  public static boolean isText(byte[] address) {
    int end = address.length;
    while (end > 0 && address[end - 1] == 0) {
      end--;
    }
    for (int i = 0; i < end; i++) {
      if (address[i] < ' ' || address[i] > '~') {
        return false;
      }
    }
    return end >= LEAST_TEXT_BYTES;
  }

  /**
   * {@return the characters of an address in the format FI_ADDR_STR, without zeros}
   *
   * @param address as fi_getname(3) gives it
   */
  public static String string(byte[] address) {
    return new String(address, StandardCharsets.US_ASCII).replace("\0", "");
  }

  /**
   * {@return the address family that a socket's address begins with, such as 2 for AF_INET; -1 for
   * less than two bytes}
   *
   * @param address as fi_getname(3) gives it
   */
  public static int family(byte[] address) {
    return address.length < 2
        ? -1
        : Short.toUnsignedInt(ByteBuffer.wrap(address).order(ByteOrder.nativeOrder()).getShort(0));
  }

  private static int port(byte[] address) {
    return Short.toUnsignedInt(ByteBuffer.wrap(address).getShort(2));
  }
}
