package org.jofi.launcher;

import static org.jofi.launcher.LauncherTree.assertContains;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jofi.launcher.LauncherTree.Outcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code jofi test}: what it has built, what it hands to the runner, and when it refuses. */
@Timeout(180)
class TestCommandTest {
  private static final String RUNNER = "test-harness/runner";

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
    module(
        "mr-cache", "org/jofi/mr/KeyPoolProperties", "org/jofi/mr/CacheTest", "org/jofi/mr/Model");
    module("providers/libfabric", "org/jofi/libfabric/ClosingTest");
    module("providers/cuda", "org/jofi/cuda/ClosingTest");
    Files.writeString(tree.root().resolve("providers/pom.xml"), "<project/>");
    Path path = tree.root().resolve(RUNNER + "/target/test-class-path.txt");
    Files.createDirectories(path.getParent());
    Files.writeString(path, "/junit.jar");
    Files.createDirectories(tree.root().resolve(RUNNER + "/src"));
    fetch("echo '/a cache'");
    tree.maven("exit 0");
  }

  /** What it asked of Maven, and what the runner was told: the words behind its main class. */
  private record Told(String maven, List<String> runner) {
    List<String> classes() {
      return runner.stream().filter(word -> !word.startsWith("-")).sorted().toList();
    }
  }

  private Told told(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("test"));
    command.addAll(List.of(arguments));
    Outcome run = tree.run(command.toArray(String[]::new));
    assertEquals(0, run.exitCode(), run.err());
    List<String> java = run.out().lines().toList();
    int main = java.indexOf("org.jofi.runner.TestRun");
    assertTrue(main > 0, run.out());
    assertTrue(java.get(main - 1).endsWith("/target/classes:/junit.jar"), java.get(main - 1));
    return new Told(
        tree.callsOf("mvn").isEmpty() ? "" : tree.callsOf("mvn").getLast(),
        java.subList(main + 1, java.size()));
  }

  @Test
  void withoutATargetItBuildsAndRunsAllModules() throws Exception {
    Told told = told();

    assertContains(told.maven(), "-DskipTests package");
    assertFalse(told.maven().contains("-pl"), told.maven());
    assertEquals(List.of(), told.classes());
    assertTrue(told.runner().contains("--root=" + tree.root()), told.runner()::toString);
    assertTrue(told.runner().contains("--libfabric-2.1=/a cache"), told.runner()::toString);
    assertTrue(
        told.runner().stream().anyMatch(word -> word.matches("--started=\\d{13}")),
        told.runner()::toString);
    assertTrue(told("--all").runner().contains("--all"));
  }

  @Test
  void whatIsBuiltIsNotBuiltAgain() throws Exception {
    told();
    told();
    told("mr-cache");
    assertEquals(1, tree.callsOf("mvn").size(), tree.callsOf("mvn")::toString);

    Path source = tree.root().resolve("mr-cache/src/test/java/org/jofi/mr/Model.java");
    Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(2)));
    told("mr-cache");
    assertEquals(2, tree.callsOf("mvn").size(), tree.callsOf("mvn")::toString);
  }

  @Test
  void aModuleIsNamedByItsPathItsFolderOrItsArtifact() throws Exception {
    List<String> expected = List.of("org.jofi.mr.CacheTest", "org.jofi.mr.KeyPoolProperties");
    for (String name : List.of("mr-cache", "mr-cache/", "jofi-mr-cache")) {
      assertEquals(expected, told(name).classes(), name);
    }
    assertContains(tree.callsOf("mvn").getFirst(), "-pl mr-cache,test-harness/runner -am package");
    assertEquals(List.of("org.jofi.libfabric.ClosingTest"), told("libfabric").classes());
    assertEquals(
        List.of("org.jofi.cuda.ClosingTest", "org.jofi.libfabric.ClosingTest"),
        told("providers").classes());
  }

  /** What is noted of a build is a file, whose name has an end. */
  @Test
  void asManyModulesAsThereAreMayBeNamed() throws Exception {
    String[] names = new String[20];
    for (int i = 0; i < names.length; i++) {
      names[i] = "providers/a-module-with-a-name-of-some-length-" + i;
      module(names[i], "org/jofi/Module%dTest".formatted(i));
    }
    assertEquals(names.length, told(names).classes().size());
    told(names);
    assertEquals(1, tree.callsOf("mvn").size(), tree.callsOf("mvn")::toString);
  }

  @Test
  void aClassIsNamedByItsSimpleOrItsFullNameAndAMethodBehindIt() throws Exception {
    assertEquals(List.of("org.jofi.mr.CacheTest"), told("CacheTest").classes());
    assertEquals(
        List.of("org.jofi.mr.CacheTest#hits"), told("org.jofi.mr.CacheTest#hits").classes());
    assertEquals(
        List.of("org.jofi.cuda.ClosingTest", "org.jofi.libfabric.ClosingTest"),
        told("ClosingTest").classes());
    Told several = told("CacheTest", "-Djofi.seeds=5", "KeyPoolProperties", "-o");
    assertEquals(
        List.of("org.jofi.mr.CacheTest", "org.jofi.mr.KeyPoolProperties"), several.classes());
    assertTrue(several.runner().contains("-Djofi.seeds=5"), several.runner()::toString);
    assertFalse(several.runner().contains("-o"), several.runner()::toString);
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
  void handsOnHowManyOfTheSlowestAreWanted() throws Exception {
    assertTrue(told("--times").runner().contains("--times=15"));
    assertTrue(told("--times=1").runner().contains("--times=1"));
    Outcome wrong = tree.run("test", "--times=no");
    assertEquals(2, wrong.exitCode());
    assertContains(wrong.err(), "--times takes a number of rows, not 'no'");
  }

  @Test
  void helpNeedsNothing() throws Exception {
    for (String spelling : List.of("-h", "--help")) {
      Outcome help = tree.run("test", spelling);
      assertEquals(0, help.exitCode(), help.err());
      assertContains(help.out(), "usage: jofi test [TARGET ...]", "--all", "--changed", "--times");
    }
    assertEquals(List.of(), tree.callsOf("mvn"));
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
  void endsAsTheRunnerEnds() throws Exception {
    assertEquals(1, tree.with("FAKE_EXIT", "1").run("test").exitCode());
  }

  @Test
  void aBuildThatFailsEndsIt() throws Exception {
    tree.maven("echo '[ERROR] /a/B.java: wrong'; exit 1");

    Outcome run = tree.run("test");

    assertEquals(1, run.exitCode());
    assertContains(run.err(), "/a/B.java: wrong", "the build failed; all of its output: ");
    assertEquals("", run.out());
  }

  @Test
  void secondPassIsLeftOutAloudWhereItAddsNothing() throws Exception {
    tree.onPath("dpkg-query", "echo 2.1.0-1.1");

    Outcome run = tree.run("test");

    assertEquals(0, run.exitCode(), run.err());
    assertContains(
        run.err(), "no second pass on libfabric 2.1: the system's own is 2.1.0-1.1 already");
    assertFalse(run.out().contains("--libfabric-2.1"), run.out());
  }

  @Test
  void whatLosesPacketsIsNeededWhereRootMayLoseThem() throws Exception {
    Files.delete(tree.gcc().resolveSibling("iptables"));

    Outcome run = tree.run("test");

    assertEquals(0, run.exitCode(), run.err());
    assertEquals(LauncherTree.isRoot(), run.err().contains("iptables"), run.err());
  }

  @Test
  void whatStartsRanksElsewhereIsNeededForAllTestsAlone() throws Exception {
    assertFalse(tree.run("test").err().contains("Slurm"));

    Outcome all = tree.run("test", "--all");

    assertEquals(0, all.exitCode(), all.err());
    assertEquals(
        LauncherTree.isRoot(), all.err().contains("Open MPI, MPICH, munge, Slurm"), all.err());
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
}
