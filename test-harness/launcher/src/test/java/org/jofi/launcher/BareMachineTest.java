package org.jofi.launcher;

import static org.jofi.launcher.LauncherTree.assertContains;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jofi.launcher.LauncherTree.Outcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the launcher does on a machine that lacks what it needs. */
@Timeout(180)
class BareMachineTest {
  private static final List<String> PACKAGES =
      List.of("openjdk-25-jdk-headless", "maven", "gcc", "libc6-dev", "libfabric1");
  private static final String ALL = String.join(" ", PACKAGES);
  private static final String REST = "maven gcc libc6-dev libfabric1";
  private static final String SUDO = LauncherTree.isRoot() ? "" : "sudo ";
  private static final String INSTALL = "install -y --no-install-recommends ";

  @TempDir private Path folder;
  private LauncherTree tree;

  @BeforeEach
  void makeTree() throws IOException {
    tree = new LauncherTree(folder);
  }

  @Nested
  class RootInstalls {
    @BeforeEach
    void beRoot() throws IOException {
      assumeTrue(LauncherTree.isRoot(), "only root installs packages");
      tree.makeBare();
      tree.without("JOFI_NO_INSTALL");
    }

    @Test
    void allThatIsMissingAtTheFirstTry() throws Exception {
      Outcome run = tree.run("allreduce");

      assertEquals(0, run.exitCode(), run.err());
      assertTrue(run.out().endsWith("\nallreduce\n"), run.out());
      assertEquals(PACKAGES, installed());
      assertEquals(1, tree.callsOf("mvn").size());
    }

    @Test
    void eachPackageWithItsSizeInALine() throws Exception {
      Outcome run = tree.run("allreduce");

      assertContains(
          run.err(),
          "jofi: reading apt's package lists (apt-get update)\n",
          "jofi: installing 5 packages that jofi needs: at most 12.3 MB to download, 45.6 MB on disk\n");
      for (String name : PACKAGES) {
        assertContains(run.err(), "jofi: installing " + name + " (");
      }
      assertEquals(
          5,
          run.err()
              .lines()
              .filter(line -> line.endsWith("): 12.3 MB to download, 45.6 MB on disk"))
              .count(),
          run.err());
    }

    @Test
    void onlyWhatTheCommandNeeds() throws Exception {
      for (String command : List.of("simulate", "doctor", "--version")) {
        assertEquals(0, tree.run(command).exitCode());
      }
      assertEquals(List.of("openjdk-25-jdk-headless", "maven", "gcc", "libc6-dev"), installed());

      tree.run("allreduce");
      assertEquals("libfabric1", installed().getLast());
    }

    @Test
    void withListsThatAreOldAfterAnUpdate() throws Exception {
      Path old = folder.resolve("old");
      Files.writeString(folder.resolve("shelf/updated"), "");
      Path installer = folder.resolve("machine/bin/apt-get");
      Files.writeString(
          installer,
          Files.readString(installer)
              .replace("*update) ", "*update) echo >'%s'; ".formatted(old))
              .replace("*)\n    if", "*)\n    [[ -e '%s' ]] || exit 100\n    if".formatted(old)));

      Outcome run = tree.run("allreduce");

      assertEquals(0, run.exitCode(), run.err());
      assertEquals(1, tree.callsOf("apt-get").stream().filter(c -> c.endsWith(" update")).count());
    }

    @Test
    void sayingInOneLineWhyTheListsCannotBeRead() throws Exception {
      tree.onPath(
          "apt-get",
          """
          echo 'Err:1 http://mirror trixie InRelease'
          echo "  Temporary failure resolving 'mirror'"
          echo "W: Failed to fetch http://mirror/InRelease  Temporary failure resolving 'mirror'"
          echo 'W: Some index files failed to download.'\
          """);

      Outcome run = tree.run("allreduce");

      assertEquals(3, run.exitCode());
      assertEquals(
          List.of(
              "jofi: reading apt's package lists (apt-get update)",
              "jofi: apt-get update failed: Failed to fetch http://mirror/InRelease  Temporary"
                  + " failure resolving 'mirror'"),
          run.err().lines().limit(2).toList());
      assertContains(run.err(), "Type:  apt-get update && apt-get install -y " + ALL);
      assertEquals(3, run.err().lines().count(), run.err());
    }

    @Test
    void sayingInOneLineWhyAPackageCannotBeInstalled() throws Exception {
      tree.onPath(
          "apt-get",
          """
          case "$*" in
            *update) echo >'%s/shelf/updated' ;;
            *) echo 'Reading package lists...'; echo 'E: No space left'; exit 100 ;;
          esac\
          """
              .formatted(folder));

      Outcome run = tree.run("allreduce");

      assertEquals(3, run.exitCode());
      assertContains(
          run.err(),
          "jofi: could not install openjdk-25-jdk-headless: No space left\n",
          "missing: " + ALL);
      assertFalse(run.err().contains("Reading"), run.err());
    }

    @Test
    void nothingWhereNoPackageHoldsAJdk25() throws Exception {
      Files.move(folder.resolve("shelf/openjdk-25-jdk-headless"), folder.resolve("elsewhere"));

      Outcome run = tree.run("allreduce");

      assertEquals(3, run.exitCode());
      assertEquals(List.of(), installed());
      assertContains(
          run.err(),
          "missing: a JDK 25, of which apt has no package here: unpack a JDK 25",
          "then run this again, which installs the rest (" + REST + ")\n");
    }

    @Test
    void theCompilerWithTheBuildSoThatThePluginIsBuiltOnce() throws Exception {
      assertEquals(0, tree.run("info").exitCode());
      assertEquals(0, tree.run("nccl-plugin", "-o", "x").exitCode());

      assertTrue(Files.exists(tree.pluginLibrary()));
      assertEquals(1, tree.callsOf("mvn").size());
    }

    private List<String> installed() throws IOException {
      return tree.callsOf("apt-get").stream()
          .filter(call -> call.contains(INSTALL) && !call.contains("--print-uris"))
          .map(call -> call.substring(call.indexOf(INSTALL) + INSTALL.length()))
          .toList();
    }
  }

  @Nested
  class TheOneLine {
    @BeforeEach
    void readLists() throws IOException {
      tree.makeBare();
      Files.writeString(folder.resolve("shelf/updated"), "");
    }

    @Test
    void namesAllThatIsMissing() throws Exception {
      Outcome run = tree.run("allreduce");

      assertEquals(3, run.exitCode());
      assertEquals("", run.out());
      assertEquals(
          "jofi: missing: %s. Type:  %sapt-get install -y %s\n".formatted(ALL, SUDO, ALL),
          run.err());
      assertEquals(List.of(), tree.callsOf("apt-get"));
    }

    @Test
    void hasSudoForThoseWhoAreNotRoot() throws Exception {
      Outcome run = tree.without("JOFI_NO_INSTALL").asNobody().run("allreduce");

      assertEquals(3, run.exitCode());
      assertEquals(
          "jofi: missing: %s. Type:  sudo apt-get install -y %s\n".formatted(ALL, ALL), run.err());
      assertEquals(List.of(), tree.callsOf("apt-get"));
    }

    @Test
    void updatesListsThatWereNeverRead() throws Exception {
      Files.delete(folder.resolve("shelf/updated"));

      Outcome run = tree.asNobody().run("simulate");

      assertContains(
          run.err(),
          "Type:  sudo apt-get update && sudo apt-get install -y openjdk-25-jdk-headless maven gcc"
              + " libc6-dev ",
          "(where apt has no openjdk-25-jdk-headless, as on Debian 12: unpack a JDK 25");
      assertEquals(1, run.err().lines().count(), run.err());
    }

    @Test
    void saysWhereAJdkComesFromIfAptHasNone() throws Exception {
      Files.move(folder.resolve("shelf/openjdk-25-jdk-headless"), folder.resolve("elsewhere"));

      Outcome run = tree.run("allreduce");

      assertEquals(3, run.exitCode());
      assertEquals(1, run.err().lines().count(), run.err());
      assertContains(
          run.err(),
          "missing: a JDK 25, of which apt has no package here: unpack a JDK 25 for Linux",
          tree.jvms() + ", or set JAVA_HOME to it; and " + REST + ". Type:  " + SUDO,
          "apt-get install -y " + REST + "\n");
    }

    @Test
    void namesThingsAndNotPackagesWhereThereIsNoApt() throws Exception {
      Files.delete(folder.resolve("machine/bin/apt-get"));

      Outcome run = tree.without("JOFI_NO_INSTALL").run("allreduce");

      assertEquals(3, run.exitCode());
      assertEquals(
          "jofi: missing: a JDK 25, Maven 3.8.7 or newer, gcc, the C library's headers, libfabric"
              + " 1.17 or newer. There is no apt-get here: install them by this system's own means\n",
          run.err());
    }

    @Test
    void ofTheTestsIsOneAsWell() throws Exception {
      Outcome run = tree.with("CI", "true").run("test");

      assertEquals(3, run.exitCode());
      assertContains(run.err(), "missing: openjdk-25-jdk-headless maven libfabric1 ");
      String ofRails = LauncherTree.isRoot() ? " iproute2 iptables" : "";
      assertTrue(run.err().endsWith(" gcc libc6-dev" + ofRails + "\n"), run.err());
      assertEquals(1, run.err().lines().count(), run.err());
    }

    @Test
    void comesBeforeTheBuildWhichGoesOnWithoutACompiler() throws Exception {
      tree.jdk("jdk-25", "25.0.3");
      Map.of("mvn", "maven", "ldconfig", "libfabric1")
          .forEach(
              (program, name) -> {
                try {
                  Path bin = folder.resolve("machine/bin");
                  Files.deleteIfExists(bin.resolve(program));
                  Files.move(
                      folder.resolve("shelf/" + name + "/machine/bin/" + program),
                      bin.resolve(program));
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              });

      Outcome first = tree.run("info");

      assertEquals(0, first.exitCode(), first.err());
      assertContains(
          first.err(), "missing: gcc libc6-dev. Type:  ", "jofi: going on without\njofi: building");
      assertEquals("", tree.run("info").err(), "once built there is nothing to say about gcc");

      assertContains(tree.run("nccl-plugin").err(), "missing: gcc libc6-dev. Type:  ");
      assertEquals(1, tree.callsOf("mvn").size());
      LauncherTree.program(tree.gcc(), "");
      tree.run("nccl-plugin");
      assertTrue(Files.exists(tree.pluginLibrary()));
      tree.run("nccl-plugin");
      assertEquals(2, tree.callsOf("mvn").size(), "gcc came after the first build");
    }
  }
}
