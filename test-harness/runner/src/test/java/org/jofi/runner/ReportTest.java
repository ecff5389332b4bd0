package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
  @TempDir private Path folder;

  /** A class that passed, of so many. */
  private static PassResult passed(int classes) {
    PassResult result = new PassResult(Passes.of("a", ""), classes);
    result.add(new PassResult.Ended(Events.Kind.PASSED, "x.Type#runs", 1, ""));
    result.end(new PassResult.Timed("x.Type", 1, 1));
    return result;
  }

  /** What it says at the end of a run. */
  private String end(PassResult result, boolean green) throws IOException {
    Budgets budgets = Budgets.read(Files.writeString(folder.resolve("budgets"), ""), false);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Report report =
        new Report(
            new PrintStream(out, true, StandardCharsets.UTF_8),
            RunOptions.of(new String[] {"x.Type"}),
            folder);
    assertEquals(green, report.end(List.of(result), budgets));
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void endsWithTheCounts() throws Exception {
    String said = end(passed(1), true);
    assertTrue(said.endsWith("\n1 passed, 0 failed, 0 skipped\n"), said);
  }

  @Test
  void aClassThatDidNotRunIsAFailure() throws Exception {
    String said = end(passed(3), false);
    assertTrue(said.contains("failed: a: 2 classes did not run\n"), said);
    assertTrue(said.endsWith("\n1 passed, 1 failed, 0 skipped\n"), said);
  }

  @Test
  void whatPassedWhenItRanOnceMoreIsToldWithWhatItFailedWith() throws Exception {
    PassResult result = passed(1);
    result.add(new PassResult.Ended(Events.Kind.FAILED, "x.Type#other [1]", 1, "late\n at x"));
    PassResult again = new PassResult(result.pass, 1);
    again.add(new PassResult.Ended(Events.Kind.PASSED, "x.Type#other [1]", 1, ""));
    result.settle(again);
    String said = end(result, true);
    assertTrue(
        said.contains(
            "unsteady: a: x.Type#other [1]: it passed when it ran once more, alone; before: late"),
        said);
    assertTrue(said.endsWith("\n1 passed, 0 failed, 0 skipped, 1 unsteady\n"), said);
  }
}
