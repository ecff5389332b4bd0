package org.jofi.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads and writes lengths such as {@code 8}, {@code 64K} or {@code 1MiB}. All multiples are
 * binary.
 */
final class ByteSizes {
  private static final Pattern SIZE =
      Pattern.compile("([0-9]{1,18})\\s*(?:([KMGT])(?:I?B)?|B)?", Pattern.CASE_INSENSITIVE);
  private static final String UNITS = "KMGT";
  private static final int MOST = 1000;

  private ByteSizes() {}

  /**
   * Reads one length.
   *
   * @throws IllegalArgumentException if the text is not a length, or above 2^62
   */
  static long parse(String text) {
    Matcher matcher = SIZE.matcher(text.strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "'%s' is no size; write 8, 64K, 1M or 2GiB".formatted(text));
    }
    String unit = matcher.group(2);
    int shift = unit == null ? 0 : 10 * (1 + UNITS.indexOf(unit.toUpperCase(Locale.ROOT)));
    long number = Long.parseLong(matcher.group(1));
    if (number > Long.MAX_VALUE >> (shift + 1)) {
      throw new IllegalArgumentException("'%s' is too large".formatted(text));
    }
    return number << shift;
  }

  /** Reads lengths separated by commas. */
  static List<Long> list(String text) {
    List<Long> sizes = new ArrayList<>();
    for (String each : text.split(",", -1)) {
      sizes.add(parse(each));
    }
    return sizes;
  }

  /**
   * The lengths from the first up to the last, each {@code factor} times the one before.
   *
   * @throws IllegalArgumentException if that is not a range, or an endless one
   */
  static List<Long> range(String first, String last, int factor) {
    long begin = parse(first);
    long end = parse(last);
    if (begin > end) {
      throw new IllegalArgumentException(
          "sizes begin at %s, above their end of %s".formatted(first, last));
    }
    if (factor < 2) {
      throw new IllegalArgumentException(
          "the factor between sizes must be 2 or more, is " + factor);
    }
    List<Long> sizes = new ArrayList<>();
    for (long size = begin; size <= end; size *= factor) {
      sizes.add(size);
      if (size == 0 || size > end / factor || sizes.size() > MOST) {
        break;
      }
    }
    return sizes;
  }

  /** A length as exact text that is as short as possible. */
  static String format(long bytes) {
    int unit = 0;
    long number = bytes;
    while (number != 0 && number % 1024 == 0 && unit < UNITS.length()) {
      number /= 1024;
      unit++;
    }
    return unit == 0 ? number + " B" : "%d %ciB".formatted(number, UNITS.charAt(unit - 1));
  }
}
