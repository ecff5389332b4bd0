package org.jofi.cli;

import java.io.PrintWriter;
import java.util.function.LongConsumer;

/** A progress bar on one line of a terminal, drawn at most ten times a second. */
final class ProgressLine implements LongConsumer {
  private static final int WIDTH = 40;
  private static final long PERIOD_NANOS = 100_000_000;

  private final PrintWriter err;
  private final String label;
  private final long total;
  private final boolean color;
  private long drawnAt = System.nanoTime() - PERIOD_NANOS;

  /** Whether standard input and output are a terminal, so that a user may be watching. */
  @SuppressWarnings("SystemConsoleNull") // It can be null, also on JDK 25.
  static boolean isWanted() {
    return System.console() != null && System.console().isTerminal();
  }

  ProgressLine(PrintWriter err, String label, long total, boolean color) {
    this.err = err;
    this.label = label;
    this.total = total;
    this.color = color;
  }

  @Override
  public void accept(long done) {
    long now = System.nanoTime();
    if (now - drawnAt < PERIOD_NANOS && done < total) {
      return;
    }
    drawnAt = now;
    int filled = (int) (WIDTH * done / total);
    String bar = "#".repeat(filled) + ".".repeat(WIDTH - filled);
    err.printf(
        "\r%-16s [%s] %d/%d", label, color ? "\u001B[32m" + bar + "\u001B[0m" : bar, done, total);
    err.flush();
  }

  void clear() {
    err.print("\r" + " ".repeat(WIDTH + 48) + "\r");
    err.flush();
  }
}
