package org.jofi.simulated.trace;

import org.jspecify.annotations.Nullable;

/**
 * The history of an object: its opening and its last few events. The strings passed here are
 * constants, so that nothing is allocated per operation. Used under the network's lock.
 */
public final class History {
  private static final int KEPT = 12;

  private final Clock clock;
  private final String label;
  private final @Nullable String[] what = new String[KEPT];
  private final long[] when = new long[KEPT];
  private final long[] detail = new long[KEPT];
  private long count;

  public History(Clock clock, String label) {
    this(clock, label, 0);
  }

  /** A history in which the first {@code forgotten} lines are dropped already. */
  public History(Clock clock, String label, long forgotten) {
    this.clock = clock;
    this.label = label;
    this.count = forgotten;
  }

  /** The object's name in error messages. */
  public String label() {
    return label;
  }

  /** Adds a line; {@code number} is a context, a length or a similar value. */
  public void add(String event, long number) {
    // The first line, how it was opened, is never dropped.
    int at = place(count);
    what[at] = event;
    when[at] = clock.nanoTime();
    detail[at] = number;
    count++;
  }

  /** All lines, oldest first. */
  public String describe() {
    StringBuilder text = new StringBuilder(256);
    line(text, 0);
    if (count > KEPT) {
      text.append("  ").append(count - KEPT).append(" more\n");
    }
    for (long i = Math.max(1, count - KEPT + 1); i < count; i++) {
      line(text, place(i));
    }
    return text.toString();
  }

  private static int place(long line) {
    return (int) (line < KEPT ? line : 1 + (line - 1) % (KEPT - 1));
  }

  private void line(StringBuilder text, int at) {
    if (what[at] != null) {
      text.append("  ").append(when[at]).append(" ns ").append(label).append(": ");
      text.append(what[at]).append(' ').append(detail[at]).append('\n');
    }
  }
}
