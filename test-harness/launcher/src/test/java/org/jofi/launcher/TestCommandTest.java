package org.jofi.launcher;

import static org.jofi.launcher.LauncherTree.assertContains;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
    for (String program : List.of("fi_pingpong", "ip", "tc", "iptables")) {
      tree.onPath(program, "");
    }
    String summary = "test-harness/launcher/src/main/java/org/jofi/launcher/TestSummary.java";
    Files.createDirectories(tree.root().resolve(summary).getParent());
    Files.copy(LauncherTree.PROJECT.resolve(summary), tree.root().resolve(summary));
    module(
        "mr-cache", "org/jofi/mr/KeyPoolProperties", "org/jofi/mr/CacheTest", "org/jofi/mr/Model");
    module("providers/libfabric", "org/jofi/libfabric/ClosingTest");
    module("providers/cuda", "org/jofi/cuda/ClosingTest");
    Files.writeString(tree.root().resolve("providers/pom.xml"), "<project/>");
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

  /** What Maven was told to test: modules and classes, or nothing. */
  private String told(String... targets) throws Exception {
    List<String> command = new ArrayList<>(List.of("test"));
    command.addAll(List.of(targets));
    Outcome run = tree.run(command.toArray(String[]::new));
    assertEquals(0, run.exitCode(), run.err());
    String call = tree.callsOf("mvn").getLast();
    return call.substring(call.indexOf(" verify") + " verify".length()).strip();
  }

  @Test
  void withoutATargetItRunsAllModules() throws Exception {
    assertEquals("", told());
    assertEquals("-Djofi.test.all", told("--all"));
  }

  @Test
  void aModuleIsNamedByItsPathItsFolderOrItsArtifact() throws Exception {
    String expected = "-pl mr-cache -am -Dtest=org.jofi.mr.CacheTest,org.jofi.mr.KeyPoolProperties";
    for (String name : List.of("mr-cache", "mr-cache/", "jofi-mr-cache")) {
      assertEquals(expected, sorted(told(name)), name);
    }
    assertEquals(
        "-pl providers/libfabric -am -Dtest=org.jofi.libfabric.ClosingTest", told("libfabric"));
    assertEquals(
        "-pl providers/cuda,providers/libfabric -am"
            + " -Dtest=org.jofi.cuda.ClosingTest,org.jofi.libfabric.ClosingTest",
        sorted(told("providers")));
  }

  @Test
  void aClassIsNamedByItsSimpleOrItsFullNameAndAMethodBehindIt() throws Exception {
    assertEquals("-pl mr-cache -am -Dtest=org.jofi.mr.CacheTest", told("CacheTest"));
    assertEquals(
        "-pl mr-cache -am -Dtest=org.jofi.mr.CacheTest#hits", told("org.jofi.mr.CacheTest#hits"));
    assertEquals(
        "-pl providers/cuda,providers/libfabric -am"
            + " -Dtest=org.jofi.cuda.ClosingTest,org.jofi.libfabric.ClosingTest",
        sorted(told("ClosingTest")));
    assertEquals(
        "-Djofi.test.all -o -pl mr-cache,mr-cache -am"
            + " -Dtest=org.jofi.mr.CacheTest,org.jofi.mr.KeyPoolProperties",
        told("CacheTest", "--all", "KeyPoolProperties", "-o"));
  }

  @Test
  void aTargetThatIsNotThereIsRefusedWithWhatIsLikeIt() throws Exception {
    Outcome run = tree.run("test", "cache");

    assertEquals(2, run.exitCode(), run.err());
    assertContains(run.err(), "no module and no test class is named cache. Did you mean: ");
    assertContains(run.err(), " mr-cache", " CacheTest");
    Outcome nothing = tree.run("test", "Nothing#at");
    assertEquals(2, nothing.exitCode(), nothing.err());
    assertContains(nothing.err(), "is named Nothing. The modules with tests are:", "  mr-cache\n");
    assertEquals(List.of(), tree.callsOf("mvn"));
  }

  @Test
  void tellsTheSlowestIfAsked() throws Exception {
    maven(0, "<testcase name='slow' classname='a.B' time='1,200.5'/>");

    Outcome run = tree.run("test", "--times=1");

    assertEquals(0, run.exitCode(), run.err());
    assertContains(
        run.out(), "the slowest of 2 tests, which took 1200.5 s:\n  1200.5 s  api: a.B.slow\n");
    Outcome wrong = tree.run("test", "--times=no");
    assertEquals(2, wrong.exitCode());
    assertContains(wrong.err(), "--times takes a number of rows, not 'no'");
  }

  @Test
  void saysSoIfNoTestRan() throws Exception {
    tree.maven("exit 0");

    Outcome run = tree.run("test", "CacheTest");

    assertEquals(1, run.exitCode());
    assertContains(run.out(), "no test ran; those that are long run with --all only\n0 passed");
  }

  @Test
  void helpNeedsNothing() throws Exception {
    for (String spelling : List.of("-h", "--help")) {
      Outcome help = tree.run("test", spelling);
      assertEquals(0, help.exitCode(), help.err());
      assertContains(help.out(), "usage: jofi test [TARGET ...]", "--all", "--times");
    }
    assertEquals(List.of(), tree.callsOf("mvn"));
  }

  /** Folders are listed in no order. */
  private static String sorted(String told) {
    return Stream.of(told.split(" "))
        .map(
            word -> {
              int from = word.startsWith("-Dtest=") ? "-Dtest=".length() : 0;
              return word.substring(0, from)
                  + Stream.of(word.substring(from).split(","))
                      .sorted()
                      .collect(Collectors.joining(","));
            })
        .collect(Collectors.joining(" "));
  }

  private void module(String folder, String... classes) throws IOException {
    Path module = tree.root().resolve(folder);
    for (String name : classes) {
      Path file = module.resolve("src/test/java").resolve(name + ".java");
      Files.createDirectories(file.getParent());
      Files.writeString(file, "");
    }
    Files.writeString(module.resolve("pom.xml"), "<project/>");
  }

  @Test
  void failsWithMavenAndStillCounts() throws Exception {
    maven(1, "<testcase name='t' classname='a.B'><error/></testcase>");

    Outcome run = tree.run("test");

    assertEquals(1, run.exitCode());
    assertTrue(run.out().endsWith("\n1 passed, 1 failed, 0 skipped\n"), run.out());
  }

  @Test
  void saysThatTheBuildFailedAlsoWhereNoTestDid() throws Exception {
    maven(1, "");

    Outcome run = tree.run("test");

    assertEquals(1, run.exitCode());
    assertTrue(run.out().endsWith("\n1 passed, 0 failed, 0 skipped\n"), run.out());
    assertContains(run.err(), "the build failed, and what it did not come to is not counted");
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
  void whatLosesPacketsIsNeededWhereRootMayLoseThem() throws Exception {
    Files.delete(tree.gcc().resolveSibling("iptables"));

    Outcome run = tree.run("test");

    assertEquals(0, run.exitCode(), run.err());
    assertEquals(LauncherTree.isRoot(), run.err().contains("iptables"), run.err());
  }

  @Test
  void secondPassMayBeMissingAtHomeButNotInContinuousIntegration() throws Exception {
    fetch("exit 1");

    Outcome home = tree.run("test");
    assertEquals(0, home.exitCode(), home.err());
    assertContains(home.err(), "no second pass on libfabric 2.1: it could not be fetched");

    for (String header : List.of("rdma/fabric.h", "infiniband/efadv.h")) {
      assumeTrue(
          Files.exists(Path.of("/usr/include", header)),
          header + " is missing, which ends a test run earlier");
    }
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
