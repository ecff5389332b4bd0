package org.jofi.cli.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LinesTest {
  @Test
  void whatIsWrittenIsRead() {
    Report report =
        new Report(
            Report.Kind.CHECKED,
            3,
            17,
            "a \"text\"\nof two lines",
            1L << 40,
            Map.of(2, "LOST: silent"),
            new Vitals(1, 2, 3, 4, 5, 6, 7, 8));
    String line = Lines.write(report);
    assertFalse(line.contains("\n"), line);
    assertEquals(Optional.of(report), Lines.read(line, Report.class));
    Order order = Order.abort(3, List.of(1, 2));
    assertEquals(Optional.of(order), Lines.read(Lines.write(order), Order.class));
  }

  /** A JVM that is asked for a dump of its threads prints it among the reports. */
  @Test
  void whatIsNoReportIsNone() {
    assertEquals(Optional.empty(), Lines.read("Full thread dump", Report.class));
    assertEquals(Optional.empty(), Lines.read("{no JSON", Report.class));
    assertEquals(Optional.empty(), Lines.read("", Report.class));
  }
}
