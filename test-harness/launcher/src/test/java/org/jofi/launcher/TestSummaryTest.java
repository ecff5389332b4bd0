package org.jofi.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
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

class TestSummaryTest {
  private static final String PASSED = "<testcase name='ok' classname='a.B'/>";

  @TempDir private Path root;

  @Test
  void addsUpEveryModuleAndPassAndGivesReasons() throws IOException {
    report("api/target/surefire-reports", "A", PASSED + PASSED);
    report(
        "providers/x/target/surefire-reports-libfabric-2.1",
        "B",
        PASSED
            + "<testcase name='needsGpu' classname='a.B'><skipped message='no GPU: none'/></testcase>"
            + "<testcase name='' classname='a.C'><skipped/></testcase>"
            + "<testcase name='t' classname='a.D'><skipped><![CDATA["
            + "org.opentest4j.TestAbortedException: Assumption failed: no NIC:\n  none\n\tat a.D.t(D.java)"
            + "]]></skipped></testcase>"
            + "<testcase name='breaks' classname='a.B'><failure message='1 != 2'/></testcase>"
            + "<testcase name='throws' classname='a.B'><error message='oops'/></testcase>");

    TestSummary summary = TestSummary.of(root);

    assertFalse(summary.isGreen());
    assertEquals(
        List.of(
            "failed: providers/x (libfabric-2.1): a.B.breaks",
            "failed: providers/x (libfabric-2.1): a.B.throws",
            "skipped: providers/x (libfabric-2.1): a.B.needsGpu: no GPU: none",
            "skipped: providers/x (libfabric-2.1): a.C: no reason given",
            "skipped: providers/x (libfabric-2.1): a.D.t: no NIC: none",
            "3 passed, 2 failed, 3 skipped"),
        printed(summary));
  }

  @Test
  void namesTheSlowest() throws IOException {
    report(
        "api/target/surefire-reports",
        "A",
        "<testcase name='quick' classname='a.B' time='0.25'/>"
            + "<testcase name='slow' classname='a.B' time='1,000.5'/>"
            + "<testcase name='middle' classname='a.B' time='3'/>");

    ByteArrayOutputStream out = new ByteArrayOutputStream();
    TestSummary.of(root).printTimes(new PrintStream(out, true, StandardCharsets.UTF_8), 2);

    assertEquals(
        List.of(
            "the slowest of 1 classes, which took 0.0 s:",
            "     0.0 s  api: ",
            "the slowest of 3 tests, which took 1003.8 s:",
            "  1000.5 s  api: a.B.slow",
            "     3.0 s  api: a.B.middle"),
        out.toString(StandardCharsets.UTF_8).lines().toList());
  }

  @Test
  void saysThatNothingRan() throws IOException {
    assertEquals(
        List.of(
            "no test ran; those that are long run with --all only",
            "0 passed, 0 failed, 0 skipped"),
        printed(TestSummary.of(root)));
  }

  @Test
  void countsReportsOnlyWhereSurefireWritesThem() throws IOException {
    report("api/target/surefire-reports", "A", PASSED);
    report("api/target/classes", "B", PASSED);
    report("api/src/surefire-reports", "C", PASSED);

    TestSummary summary = TestSummary.of(root);

    assertTrue(summary.isGreen());
    assertEquals(List.of("1 passed, 0 failed, 0 skipped"), printed(summary));
  }

  @Test
  void nothingRunIsNotGreen() throws IOException {
    assertFalse(TestSummary.of(root).isGreen());
  }

  @Test
  void truncatedReportIsNamed() throws IOException {
    Path report = report("api/target/surefire-reports", "A", PASSED);
    Files.writeString(report, "<testsuite><testcase");

    IOException error = assertThrows(IOException.class, () -> TestSummary.of(root));

    assertTrue(error.getMessage().contains(report.toString()), error.getMessage());
  }

  private Path report(String folder, String name, String cases) throws IOException {
    Path file = root.resolve(folder).resolve("TEST-" + name + ".xml");
    Files.createDirectories(root.resolve(folder));
    return Files.writeString(file, "<testsuite>" + cases + "</testsuite>");
  }

  private static List<String> printed(TestSummary summary) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    summary.print(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    return bytes.toString(StandardCharsets.UTF_8).lines().toList();
  }
}
