package org.jofi.ranks;

import java.time.Duration;
import java.util.Locale;

/** How long a wait may last, as callers give it: any length, also one that no clock counts. */
final class Timeout {
  /** Some 73 years, which may be added to any time of the clock. */
  private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE / 4);

  private Timeout() {}

  /** In nanoseconds, 0 or more. */
  static long nanos(Duration timeout) {
    if (timeout.isNegative()) {
      return 0;
    }
    return (timeout.compareTo(LONGEST) < 0 ? timeout : LONGEST).toNanos();
  }

  /** When it is over, in {@link System#nanoTime()}. */
  static long deadline(Duration timeout) {
    return System.nanoTime() + nanos(timeout);
  }

  /** For messages, such as {@code 60 s} or {@code 0.3 s}. */
  static String words(Duration timeout) {
    long nanos = nanos(timeout);
    return nanos % 1_000_000_000 == 0
        ? nanos / 1_000_000_000 + " s"
        : String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
  }
}
