package org.jofi.launcher;

import static org.jofi.launcher.LauncherTree.assertContains;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jofi.launcher.LauncherTree.Outcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class LauncherTest {
  @TempDir private Path folder;
  private LauncherTree tree;

  @BeforeEach
  void makeTree() throws IOException {
    tree = new LauncherTree(folder);
  }

  @Nested
  class Help {
    @Test
    void needsNeitherJdkNorMavenNorBuild() throws Exception {
      for (String spelling : List.of("help", "--help", "-h")) {
        Outcome help = tree.run(spelling);

        assertEquals(0, help.exitCode(), help.err());
        assertEquals("", help.err());
        assertContains(
            help.out(), "usage: jofi COMMAND", "\n  test ", "JOFI_NO_INSTALL", "JOFI_JAVA_OPTS");
      }
    }

    @Test
    void addsTheProgramsOwnOnceItIsBuilt() throws Exception {
      tree.jdk("jdk-25", "25.0.3");
      tree.maven();
      tree.run("info");

      Outcome help = tree.run("--help");

      assertContains(help.out(), "usage: jofi COMMAND", "org.jofi.cli/org.jofi.cli.Jofi\n--help\n");
      assertEquals(1, tree.callsOf("mvn").size());
    }

    @Test
    void isWhatAMissingCommandGets() throws Exception {
      Outcome nothing = tree.run();

      assertEquals(2, nothing.exitCode());
      assertEquals("", nothing.out());
      assertContains(nothing.err(), "usage: jofi COMMAND");

      tree.jdk("jdk-25", "25.0.3");
      tree.maven();
      tree.run("info");
      Outcome built = tree.run();

      assertEquals(2, built.exitCode(), built.err());
      assertEquals("", built.out());
      assertContains(built.err(), "usage: jofi COMMAND", "\n--help\n");
    }
  }

  @Nested
  class FindingTheJdk {
    @Test
    void saysWhatJavaHomeLacks() throws Exception {
      Outcome none = tree.with("JAVA_HOME", "/nowhere").run("info");

      assertEquals(3, none.exitCode());
      assertEquals("", none.out());
      assertContains(
          none.err(),
          "jofi: not a JDK 25: JAVA_HOME: /nowhere has no bin/java\n",
          "jofi: missing: a JDK 25, ");
    }

    @Test
    void saysWhichVersionsItRefused() throws Exception {
      tree.jdk("jdk-17", "17.0.15");
      Path jre = tree.jdk("jre-25", "25");
      Files.delete(jre.resolve("bin/javac"));
      Path newer = tree.jdk("jdk-26", "26-ea");

      Outcome none = tree.with("JAVA_HOME", newer.toString()).run("info");

      assertEquals(3, none.exitCode());
      assertContains(
          none.err(),
          "JAVA_HOME: " + newer + " is Java 26",
          "jdk-17 is Java 17",
          "jre-25 is a run-time");
    }

    @Test
    void takesJavaHomeFirst() throws Exception {
      tree.jdk("a", "25.0.1");
      Path chosen = tree.jdk("b", "25.0.3");
      tree.maven();

      assertJava(chosen, tree.with("JAVA_HOME", chosen.toString()).run("info"));
    }

    @Test
    void passesOverAWrongJavaHome() throws Exception {
      Path wrong = tree.jdk("a", "17");
      Path chosen = tree.jdk("b", "25");
      tree.maven();

      assertJava(chosen, tree.with("JAVA_HOME", wrong.toString()).run("info"));
    }

    @Test
    void takesTheOneOnThePathLastAndAsksItIfItHasNoReleaseFile() throws Exception {
      Path chosen = tree.jdk("hidden", "25.0.2");
      Files.delete(chosen.resolve("release"));
      tree.maven();
      Files.createSymbolicLink(folder.resolve("machine/bin/java"), chosen.resolve("bin/java"));

      assertJava(chosen, tree.with("JOFI_JVM_DIR", "/nowhere").run("info"));
    }

    private void assertJava(Path jdk, Outcome run) {
      assertEquals(0, run.exitCode(), run.err());
      assertEquals(jdk.resolve("bin/java").toString(), run.out().lines().findFirst().orElseThrow());
    }
  }

  @Nested
  class Building {
    @BeforeEach
    void provideJdk() throws IOException {
      tree.jdk("jdk-25", "25.0.3");
    }

    @Test
    void missingMavenIsNamed() throws Exception {
      Outcome none = tree.run("info");

      assertEquals(3, none.exitCode());
      assertContains(none.err(), "missing: Maven 3.8.7 or newer.");
    }

    @Test
    void happensOnceAndThenOnlyForWhatTheProgramIsMadeOf() throws Exception {
      tree.maven();
      Path gone = Files.writeString(tree.source("Gone.java"), "class Gone {}");
      Path test = Files.createDirectories(tree.root().resolve("test-harness/cli/src/test/java"));

      assertBuilds(1);
      assertBuilds(1);
      modify(Files.writeString(test.resolve("JofiTest.java"), "class JofiTest {}"));
      assertBuilds(1);
      modify(tree.source("Jofi.java"));
      assertBuilds(2);
      Files.delete(gone);
      assertBuilds(3);
      modify(tree.root().resolve("pom.xml"));
      assertBuilds(4);
      Files.delete(tree.root().resolve("test-harness/cli/target/modules.stamp"));
      assertBuilds(5);
    }

    @Test
    void failureShowsTheErrorsAndRunsNothing() throws Exception {
      tree.maven("echo '[ERROR] Jofi.java:[1,1] broken'; exit 1");

      Outcome failed = tree.run("info");

      assertEquals(1, failed.exitCode());
      assertEquals("", failed.out());
      assertContains(failed.err(), "[ERROR] Jofi.java:[1,1] broken", "build.log");
      tree.run("info");
      assertEquals(2, tree.callsOf("mvn").size(), "a failed build is no build");
    }

    @Test
    void canBeForbidden() throws Exception {
      tree.maven();

      Outcome nothing = tree.with("JOFI_NO_BUILD", "1").run("info");

      assertEquals(1, nothing.exitCode());
      assertContains(nothing.err(), "nothing is built yet");
      assertEquals(List.of(), tree.callsOf("mvn"));
    }

    @Test
    void whereItCannotBeBuiltItCanStillBeRun() throws Exception {
      tree.maven();
      tree.run("info");
      modify(tree.source("Jofi.java"));
      Path state = tree.root().resolve(".jofi");
      Files.move(state, tree.root().resolve("moved"));
      Files.writeString(state, "in the way");

      Outcome refused = tree.run("info");

      assertEquals(1, refused.exitCode());
      assertContains(refused.err(), "is not writable", "JOFI_NO_BUILD=1 runs what was built last");
      assertEquals(0, tree.with("JOFI_NO_BUILD", "1").run("info").exitCode());
    }

    @Test
    void ofTwoAtOnceTheSecondWaitsAndFindsItDone() throws Exception {
      Path gate = folder.resolve("gate");
      assertEquals(0, new ProcessBuilder("mkfifo", gate.toString()).start().waitFor());
      tree.maven("read -r _ <'" + gate + "'; mkdir -p '" + tree.modules() + "'");

      Process first = tree.start("info");
      BufferedReader firstSays = first.errorReader();
      assertContains(
          firstSays.readLine(), "jofi: building; the first time this takes a few minutes; log: ");
      Process second = tree.start("info");
      BufferedReader secondSays = second.errorReader();
      assertEquals("jofi: waiting for another build to end", secondSays.readLine());
      // Opening the pipe waits for the build to open its end.
      Files.writeString(gate, "go\n");

      assertTrue(first.waitFor(120, TimeUnit.SECONDS) && second.waitFor(120, TimeUnit.SECONDS));
      assertEquals(0, first.exitValue(), () -> firstSays.lines().toList().toString());
      assertEquals(0, second.exitValue(), () -> secondSays.lines().toList().toString());
      assertEquals(1, tree.callsOf("mvn").size());
    }

    private void assertBuilds(int expected) throws Exception {
      Outcome run = tree.run("info");
      assertEquals(0, run.exitCode(), run.err());
      assertEquals(expected, tree.callsOf("mvn").size(), () -> "after: " + run.err());
    }

    private void modify(Path file) throws IOException {
      FileTime stamp =
          Files.getLastModifiedTime(tree.root().resolve("test-harness/cli/target/modules.stamp"));
      Files.setLastModifiedTime(file, FileTime.from(stamp.toInstant().plus(Duration.ofSeconds(1))));
    }
  }

  @Nested
  class Running {
    @BeforeEach
    void provideJdkAndMaven() throws IOException {
      tree.jdk("jdk-25", "25.0.3");
      tree.maven();
    }

    @Test
    void passesOnExitCodesAndArgumentsFromAnywhere() throws Exception {
      Path elsewhere = Files.createDirectory(folder.resolve("else where"));
      Path link = Files.createSymbolicLink(elsewhere.resolve("j"), tree.root().resolve("jofi"));

      Outcome run =
          tree.with("FAKE_EXIT", "7").run(link, elsewhere, "perf", "a  b", "", "*", "--help");

      assertEquals(7, run.exitCode());
      assertTrue(
          run.out().endsWith("-m\norg.jofi.cli/org.jofi.cli.Jofi\nperf\na  b\n\n*\n--help\n"),
          run.out());
      assertContains(run.out(), "-p\n" + tree.modules() + "\n");
    }

    @Test
    void grantsNativeAccessToWhatNeedsItAndHonoursOptions() throws Exception {
      Outcome run = tree.with("JOFI_JAVA_OPTS", "-Xmx1g  -Da=b").run("info");

      assertContains(
          run.out(),
          "\n--enable-native-access=org.jofi.libfabric,org.jofi.libfabric.bindings,org.jofi.rdma\n",
          "\n-Xmx1g\n-Da=b\n-m\n");
    }

    @Test
    void missingLibfabricIsTheUsersToInstallIfNothingMayBeInstalled() throws Exception {
      tree.onPath("ldconfig", "");
      tree.onPath("apt-get", "");
      tree.onPath("apt-cache", "echo '  Candidate: 1.17'");

      Outcome run = tree.run("info");

      assertEquals(0, run.exitCode(), "the command runs all the same");
      assertContains(run.err(), "apt-get install -y libfabric1\n");
      assertEquals(List.of(), tree.callsOf("apt-get"));
    }

    @Test
    void libfabricIsNotLookedForWhereItIsNotWanted() throws Exception {
      tree.onPath("ldconfig", "");
      tree.onPath("apt-get", "");

      assertFalse(tree.run("simulate", "--seed", "1").err().contains("libfabric1"));
      assertFalse(tree.run("--version").err().contains("libfabric1"));
      assertFalse(tree.run("doctor").err().contains("libfabric1"));
      assertFalse(
          tree.with("JOFI_LIBFABRIC", "/x/libfabric.so").run("info").err().contains("libfabric1"));
    }
  }
}
