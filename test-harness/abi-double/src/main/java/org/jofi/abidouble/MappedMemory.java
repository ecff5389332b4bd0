package org.jofi.abidouble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the process has mapped, as the kernel lists it in ascending order. */
final class MappedMemory {
  private static final Path MAPS = Path.of("/proc/self/maps");

  private MappedMemory() {}

  /** Whether all of a range is mapped for reading, and for writing if it needs to be. */
  static boolean covers(long address, long lengthBytes, boolean written) {
    long end = address + lengthBytes;
    long reached = address;
    try {
      for (String line : Files.readAllLines(MAPS)) {
        int dash = line.indexOf('-');
        int space = line.indexOf(' ');
        long from = Long.parseUnsignedLong(line, 0, dash, 16);
        long to = Long.parseUnsignedLong(line, dash + 1, space, 16);
        boolean usable =
            line.charAt(space + 1) == 'r' && (!written || line.charAt(space + 2) == 'w');
        if (from <= reached && reached < to && usable) {
          reached = to;
        }
        if (Long.compareUnsigned(reached, end) >= 0) {
          return true;
        }
      }
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
