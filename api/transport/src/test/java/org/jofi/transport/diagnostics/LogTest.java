package org.jofi.transport.diagnostics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LogTest {
  private final List<String> lines = new ArrayList<>();
  private long now;
  private final Log log = new Log(new Lines(), () -> now);

  /** Takes all, and keeps what it takes. */
  private final class Lines implements Logger {
    @Override
    public String getName() {
      return "lines";
    }

    @Override
    public boolean isLoggable(Level level) {
      return level != Level.TRACE;
    }

    @Override
    public void log(
        Level level, @Nullable ResourceBundle words, String line, @Nullable Throwable thrown) {
      lines.add(level + " " + line);
    }

    @Override
    public void log(
        Level level, @Nullable ResourceBundle words, String format, @Nullable Object... values) {
      throw new AssertionError(format);
    }
  }

  private void fault(int times) {
    for (int i = 0; i < times; i++) {
      log.log(Level.WARNING, "a fault");
    }
  }

  @Test
  void aFaultThatRepeatsIsToldSoOftenAndNoMore() {
    fault(3 * Log.MOST_LINES);
    assertEquals(Log.MOST_LINES, lines.size());
    log.log(Level.ERROR, "another");
    assertEquals("ERROR another", lines.getLast(), "each level has its own");
    now += Log.SPAN_NS - 1;
    fault(1);
    assertEquals(Log.MOST_LINES + 1, lines.size());
    now++;
    fault(2);
    assertEquals(
        List.of(
            "WARNING a fault [%d lines before were left out]".formatted(2 * Log.MOST_LINES + 1),
            "WARNING a fault"),
        lines.subList(Log.MOST_LINES + 1, lines.size()));
  }

  @Test
  void whatIsAskedForToFindDefectsIsAllThere() {
    for (int i = 0; i < 2 * Log.MOST_LINES; i++) {
      log.log(Level.DEBUG, "{0} is no place");
      log.log(Level.TRACE, "not wanted");
    }
    assertEquals(2 * Log.MOST_LINES, lines.size());
    assertTrue(lines.stream().allMatch(line -> line.equals("DEBUG {0} is no place")));
  }

  @Test
  void theNamesAreFour() {
    assertEquals(
        List.of(
            "org.jofi.transport", "org.jofi.registration", "org.jofi.provider", "org.jofi.ranks"),
        Arrays.stream(Log.Name.values()).map(Log.Name::title).toList());
  }
}
