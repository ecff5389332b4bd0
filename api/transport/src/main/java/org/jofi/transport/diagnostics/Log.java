package org.jofi.transport.diagnostics;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where one class logs. Its lines go to one of four loggers, whose names are {@link Name}. Any
 * thread.
 *
 * <p>A fault may repeat as often as something is tried again. So of each level but DEBUG and below,
 * a class logs {@value #MOST_LINES} lines in 10 s at most; the next line says how many were left
 * out.
 */
public final class Log {
  /** Lines of a level that a class logs in 10 s, at most. */
  public static final int MOST_LINES = 20;

  static final long SPAN_NS = 10_000_000_000L;

  private final Logger logger;
  private final LongSupplier clock;
  private final Map<Level, Allowance> allowances = new EnumMap<>(Level.class);

  /** The loggers that there are: {@code org.jofi.} and the constant's name in small letters. */
  public enum Name {
    /** Connections, rails, progress threads, and what peers do. */
    TRANSPORT("connections, rails, progress threads, and what peers do"),
    /** Registered memory and its cache. */
    REGISTRATION("registered memory and its cache"),
    /** Providers: libfabric, and what it tells. */
    PROVIDER("libfabric and its providers"),
    /** Ranks that find each other: the commands. */
    RANKS("processes of the commands, and how they find each other");

    private final String meaning;

    Name(String meaning) {
      this.meaning = meaning;
    }

    /**
     * The logger's name.
     *
     * @return the name, as a configuration of logs has it
     */
    public String title() {
      return "org.jofi." + name().toLowerCase(Locale.ROOT);
    }

    /**
     * What is logged there, for documentation.
     *
     * @return words without a full stop
     */
    public String meaning() {
      return meaning;
    }
  }

  /** How many lines of a level may follow in this span, and how many were left out. */
  private static final class Allowance {
    private long since;
    private int lines;
    private int leftOut;

    Allowance(long now) {
      since = now;
    }

    /** How many were left out before this line; -1 if it is to be left out. */
    synchronized int take(long now) {
      if (now - since >= SPAN_NS) {
        since = now;
        lines = 0;
      }
      if (lines == MOST_LINES) {
        leftOut++;
        return -1;
      }
      lines++;
      int before = leftOut;
      leftOut = 0;
      return before;
    }
  }

  /**
   * A log of one class.
   *
   * @param name the logger that its lines go to
   */
  public Log(Name name) {
    this(System.getLogger(name.title()), System::nanoTime);
  }

  Log(Logger logger, LongSupplier clock) {
    this.logger = logger;
    this.clock = clock;
    for (Level level : Level.values()) {
      allowances.put(level, new Allowance(clock.getAsLong()));
    }
  }

  /**
   * Whether lines of a level are logged, so that it pays to make one.
   *
   * @param level of the line
   * @return whether the logger takes it
   */
  public boolean isLoggable(Level level) {
    return logger.isLoggable(level);
  }

  /**
   * Logs a line, unless there were too many.
   *
   * @param level of the line
   * @param line what happened, where, and what to do
   */
  public void log(Level level, String line) {
    log(level, line, null);
  }

  /**
   * Logs a line with what was thrown, unless there were too many.
   *
   * @param level of the line
   * @param line what happened, where, and what to do
   * @param thrown shown with its stack; null for nothing
   */
  public void log(Level level, String line, @Nullable Throwable thrown) {
    if (!logger.isLoggable(level)) {
      return;
    }
    boolean isLimited = level.getSeverity() > Level.DEBUG.getSeverity();
    int leftOut = isLimited ? leftOut(level) : 0;
    if (leftOut >= 0) {
      logger.log(
          level,
          leftOut == 0 ? line : "%s [%d lines before were left out]".formatted(line, leftOut),
          thrown);
    }
  }

  private int leftOut(Level level) {
    return Objects.requireNonNull(allowances.get(level)).take(clock.getAsLong());
  }
}
