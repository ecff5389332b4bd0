package org.jofi.launcher;

import static org.jofi.launcher.LauncherTree.assertContains;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jofi.launcher.LauncherTree.Outcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code jofi test}: what it hands to Maven, when it refuses, and what it says at the end. */
@Timeout(60)
class TestCommandTest {
  private static final String REPORT =
      "<testsuite><testcase name=\"runs\" classname=\"a.B\"/>%s</testsuite>";

  @TempDir private Path folder;
  private LauncherTree tree;

  @BeforeEach
  void provideMachine() throws IOException {
    tree = new LauncherTree(folder);
    tree.jdk("jdk-25", "25.0.3");
    tree.onPath("dpkg-query", "echo 1.17.0-3");
    tree.onPath("dpkg", "[[ $2 == 2.* ]]");
    String summary = "test-harness/launcher/src/main/java/org/jofi/launcher/TestSummary.java";
    Files.createDirectories(tree.root().resolve(summary).getParent());
    Files.copy(LauncherTree.PROJECT.resolve(summary), tree.root().resolve(summary));
    fetch("echo '/a cache'");
    maven(0, "");
  }

  @Test
  void endsWithTheCountOfThisRunAlone() throws Exception {
    Path old = tree.root().resolve("api/target/surefire-reports/TEST-old.xml");
    Files.createDirectories(old.getParent());
    Files.writeString(
        old, REPORT.formatted("<testcase name='o' classname='o'><failure/></testcase>"));
    maven(0, "<testcase name='gpu' classname='a.B'><skipped message='no GPU'/></testcase>");

    Outcome run = tree.run("test", "-Dx=y z");

    assertEquals(0, run.exitCode(), run.out() + run.err());
    assertContains(run.out(), "skipped: api: a.B.gpu: no GPU\n");
    assertTrue(run.out().endsWith("\n1 passed, 0 failed, 1 skipped\n"), run.out());
    assertContains(
        tree.callsOf("mvn").getFirst(), " verify -Dx=y z", "-Djofi.libfabric-2.1=/a cache");
  }

  @Test
  void failsWithMavenAndStillCounts() throws Exception {
    maven(1, "<testcase name='t' classname='a.B'><error/></testcase>");

    Outcome run = tree.run("test");

    assertEquals(1, run.exitCode());
    assertTrue(run.out().endsWith("\n1 passed, 1 failed, 0 skipped\n"), run.out());
  }

  @Test
  void secondPassIsLeftOutAloudWhereItAddsNothing() throws Exception {
    tree.onPath("dpkg-query", "echo 2.1.0-1.1");

    Outcome run = tree.run("test");

    assertEquals(0, run.exitCode(), run.err());
    assertContains(
        run.err(), "no second pass on libfabric 2.1: the system's own is 2.1.0-1.1 already");
    assertFalse(tree.callsOf("mvn").getFirst().contains("libfabric-2.1"));
  }

  @Test
  void secondPassMayBeMissingAtHomeButNotInContinuousIntegration() throws Exception {
    fetch("exit 1");

    Outcome home = tree.run("test");
    assertEquals(0, home.exitCode(), home.err());
    assertContains(home.err(), "no second pass on libfabric 2.1: it could not be fetched");

    assumeTrue(
        Files.exists(Path.of("/usr/include/rdma/fabric.h")),
        "libfabric-dev is missing, which ends a test run earlier");
    Outcome ci = tree.with("CI", "true").run("test");
    assertEquals(3, ci.exitCode(), ci.err());
    assertContains(ci.err(), "the tests need libfabric 2.1 as well, and it could not be fetched");
    assertEquals(1, tree.callsOf("mvn").size());
  }

  private void fetch(String script) throws IOException {
    Path fetch = tree.root().resolve("test-harness/libfabric-2.1/fetch");
    Files.createDirectories(fetch.getParent());
    LauncherTree.program(fetch, script);
  }

  private void maven(int exitCode, String cases) throws IOException {
    Path report = tree.root().resolve("api/target/surefire-reports/TEST-new.xml");
    tree.maven(
        "mkdir -p '%s'\ncat >'%s' <<'EOF'\n%s\nEOF\nexit %d"
            .formatted(report.getParent(), report, REPORT.formatted(cases), exitCode));
  }
}
