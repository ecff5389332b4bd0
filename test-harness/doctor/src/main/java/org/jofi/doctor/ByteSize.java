package org.jofi.doctor;

import java.util.Locale;

/** Formats a number of bytes. */
public final class ByteSize {
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

  private ByteSize() {}

  /**
   * The number in the largest unit that is not greater, such as {@code 64 GiB}; {@code ?} if it is
   * negative.
   */
  public static String text(long bytes) {
    if (bytes < 0) {
      return "?";
    }
    double count = bytes;
    int unit = 0;
    while (unit < UNITS.length - 1 && count >= 1024) {
      count /= 1024;
      unit++;
    }
    return String.format(
        Locale.ROOT, count == Math.rint(count) ? "%.0f %s" : "%.1f %s", count, UNITS[unit]);
  }
}
