package org.jofi.launcher;

import static org.jofi.launcher.LauncherTree.assertContains;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jofi.launcher.LauncherTree.Outcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a build shows while it runs, and when it fails. */
@Timeout(60)
class BuildOutputTest {
  private static final String MODULES =
      """
      echo '[INFO] Scanning for projects...'
      echo '[INFO] Downloading from central: https://repository/a.pom'
      echo '[INFO] Downloaded from central: https://repository/a.pom (1 kB at 1 kB/s)'
      echo '[INFO] Building jofi 0.1.0-SNAPSHOT                                   [1/2]'
      echo '[INFO] Downloaded from central: https://repository/b.pom (1 kB at 1 kB/s)'
      printf '[INFO] Building jofi-cli '
      sleep 1.5
      echo '0.1.0-SNAPSHOT                               [2/2]'
      mkdir -p '%s'
      printf 'an end without a line'
      """;

  @TempDir private Path folder;
  private LauncherTree tree;

  @BeforeEach
  void makeTree() throws IOException {
    tree = new LauncherTree(folder);
    tree.jdk("jdk-25", "25.0.3");
    LauncherTree.program(folder.resolve("machine/bin/sleep"), "exec /bin/sleep \"$@\"");
  }

  @Test
  void namesTheLogAndHasALineForEachModule() throws Exception {
    tree.maven(MODULES.formatted(tree.modules()));

    Outcome run = tree.run("info");

    assertEquals(0, run.exitCode(), run.err());
    Path log = tree.root().resolve(".jofi/build.log");
    List<String> lines = run.err().replaceAll("\\d+ s\n", "N s\n").lines().toList();
    assertEquals(
        List.of(
            "jofi: building; the first time this takes a few minutes; log: " + log,
            "jofi: module 1 of 2, jofi, 1 files downloaded, N s",
            "jofi: module 2 of 2, jofi-cli, 2 files downloaded, N s",
            "jofi: built in N s"),
        lines);
    String logged = Files.readString(log);
    assertContains(
        logged,
        "Scanning for projects...\n",
        "\n[INFO] Building jofi-cli 0.1.0-SNAPSHOT                               [2/2]\n");
    assertTrue(logged.endsWith("an end without a line"), logged);
  }

  @Test
  void rewritesOneLineOnATerminal() throws Exception {
    tree.maven(MODULES.formatted(tree.modules()));

    Outcome run = tree.onTerminal().run("info");

    assertEquals(0, run.exitCode(), run.err());
    String erased = "\r\u001b[K";
    // How many seconds that took depends on what else the machine does.
    assertContains(
        run.out().replaceAll("\\d+ s", "N s"),
        erased + "module 1 of 2, jofi, 1 files downloaded, N s" + erased,
        erased + "jofi: built in ");
    for (String line : run.out().lines().toList()) {
      assertTrue(
          line.replace("\u001b[K", "").length() < 80 || !line.contains("module"), () -> line);
    }
    assertFalse(run.out().contains("jofi: module"), run.out());
  }

  @Test
  void usesAllProcessors() throws Exception {
    tree.maven();
    tree.run("info");

    assertContains(tree.callsOf("mvn").getFirst(), " -T 1C ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          PKIX path building failed: unable to find valid certification path | -importcert -cacerts
          status: 407 Proxy Authentication Required | name the proxy
          repository: Name or service not known | see whether this machine reaches the network
          repository: Temporary failure in name resolution | see whether this machine reaches the network
          Connect to repository:443 failed: Connection refused | <proxies>
          status code: 403, reason phrase: Forbidden (403) | <mirrors>
          Premature end of body | try again
          """)
  void failedDownloadIsOneLineWithItsCauseAndWhatToDo(String cause, String advice)
      throws Exception {
    tree.maven(
        """
        echo '[INFO] Building jofi 0.1.0-SNAPSHOT                                   [1/2]'
        echo '[ERROR] Plugin a:b:1 or one of its dependencies could not be resolved: Failed to read\
         artifact descriptor for a:b:jar:1: Could not transfer artifact a:b:pom:1 from/to central\
         (https://repository): %s -> [Help 1]'
        echo '[ERROR] '
        echo '[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.'
        echo '[ERROR] [Help 1] http://wiki/PluginResolutionException'
        exit 1\
        """
            .formatted(cause));

    Outcome run = tree.run("info");

    assertEquals(1, run.exitCode());
    List<String> lines = run.err().lines().toList();
    assertEquals(3, lines.size(), run.err());
    assertContains(
        lines.getLast(),
        "jofi: a download failed: a:b:pom:1 from central: " + cause + ". What to do: ",
        advice,
        "build.log");
  }

  /** As Maven prints it when the first thing that it cannot download is named by the pom itself. */
  @Test
  void theCauseIsFoundWhereMavenSaysItLast() throws Exception {
    tree.maven(
        """
        cat <<'EOF'
        [ERROR] Non-resolvable import POM: Could not transfer artifact a:b:pom:1 from/to central\
         (https://repository): transfer failed for https://repository/b.pom @ line 58, column 19
        [ERROR] 'dependencies.dependency.version' for c:d:jar is missing. @ line 201, column 17
        [ERROR] The build could not read 1 project -> [Help 1]
        [ERROR]     Non-resolvable import POM: Could not transfer artifact a:b:pom:1 from/to central\
         (https://repository): transfer failed for https://repository/b.pom @ line 58, column 19:\
         Unknown host repository: Temporary failure in name resolution -> [Help 2]
        EOF
        exit 1\
        """);

    assertContains(
        tree.run("info").err(),
        "jofi: a download failed: a:b:pom:1 from central: Unknown host repository: Temporary"
            + " failure in name resolution. What to do: see whether");
  }

  @Test
  void offlineMavenIsOneLine() throws Exception {
    tree.maven(
        """
        echo '[ERROR] Cannot access central (https://repository) in offline mode and the artifact\
         a:b:pom:1 has not been downloaded from it before. -> [Help 1]'
        exit 1\
        """);

    Outcome run = tree.run("info");

    assertEquals(1, run.exitCode());
    assertEquals(2, run.err().lines().count(), run.err());
    assertContains(run.err(), "jofi: Maven is set to work offline", "<offline>");
  }

  @Test
  void compilersErrorsAreShownOnceAndWithoutMavensOwnAdvice() throws Exception {
    tree.maven(
        """
        cat <<'EOF'
        [INFO] Building jofi 0.1.0-SNAPSHOT                                   [1/2]
        [WARNING] Your build is requesting parallel execution
        [WARNING] /a/Jofi.java:[3,1] [unchecked] unchecked conversion
          required: List<String>
        [ERROR] COMPILATION ERROR :
        [ERROR] /a/Jofi.java:[1,1] ';' expected
            (see https://errorprone.info)
        [INFO] 1 error
        [ERROR] Failed to execute goal compile: Compilation failure
        [ERROR] /a/Jofi.java:[1,1] ';' expected
        [ERROR] -> [Help 1]
        [ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
        EOF
        exit 1\
        """);

    Outcome run = tree.run("info");

    assertEquals(1, run.exitCode());
    assertEquals(
        """
        [WARNING] /a/Jofi.java:[3,1] [unchecked] unchecked conversion
          required: List<String>
        [ERROR] COMPILATION ERROR :
        [ERROR] /a/Jofi.java:[1,1] ';' expected
            (see https://errorprone.info)
        [ERROR] Failed to execute goal compile: Compilation failure
        """,
        run.err().substring(run.err().indexOf("[WARNING]"), run.err().indexOf("jofi: the build")));
  }

  @Test
  void mavenThatDoesNotStartIsShownAsItIs() throws Exception {
    tree.maven("echo 'Unrecognized VM option'; exit 1");

    assertContains(
        tree.run("info").err(),
        "Unrecognized VM option\njofi: the build failed; all of its output");
  }
}
