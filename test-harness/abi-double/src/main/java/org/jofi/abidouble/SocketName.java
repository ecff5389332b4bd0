package org.jofi.abidouble;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/** A struct sockaddr as text: the same for the same address, whatever follows it in memory. */
final class SocketName {
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;

  private SocketName() {}

  static String read(MemorySegment pointer) {
    MemorySegment name = Pointers.memory(pointer.address(), 2);
    int family = name.get(ValueLayout.JAVA_SHORT, 0);
    long bytes =
        switch (family) {
          case AF_INET -> 8; // port and address, padding left out
          case AF_INET6 -> 24;
          default -> throw new IllegalArgumentException("address family " + family);
        };
    return family
        + ":"
        + HexFormat.of()
            .formatHex(
                Pointers.memory(pointer.address(), bytes).toArray(ValueLayout.JAVA_BYTE),
                2,
                (int) bytes);
  }
}
