package org.jofi.launcher;

import static org.jofi.launcher.LauncherTree.assertContains;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jofi.launcher.LauncherTree.Outcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class PublishCommandTest {
  @TempDir private Path folder;
  private LauncherTree tree;
  private Path repository;

  @BeforeEach
  void makeTree() throws IOException {
    tree = new LauncherTree(folder);
    tree.jdk("jdk-25", "25.0.3");
    repository = folder.resolve("a repository");
    writePoms("1.2.0");
    Path laidOut = repository.resolve("org/jofi/jofi-transport/1.2.0");
    tree.maven(
        """
        mkdir -p '%1$s'
        echo pom >'%1$s/jofi-transport-1.2.0.pom'
        echo jar >'%1$s/jofi-transport-1.2.0.jar'
        echo sum >'%1$s/jofi-transport-1.2.0.jar.sha1'
        echo sources >'%1$s/jofi-transport-1.2.0-sources.jar'
        mkdir -p '%2$s'
        """
            .formatted(laidOut, tree.modules()));
  }

  @Test
  void itHandsMavenTheFolderAndSaysWhatWasLaidOut() throws Exception {
    Outcome run = tree.run("publish", "--local", repository.toString(), "-o");

    assertEquals(0, run.exitCode(), run.err());
    String maven = tree.callsOf("mvn").getFirst();
    assertContains(
        maven,
        "-Prelease",
        "-pl api/transport -am",
        " deploy ",
        "-Dmaven.install.skip=true",
        "-DaltDeploymentRepository=jofi-publish::file://"
            + repository.toString().replace(" ", "%20")
            + " ",
        " -o");
    assertFalse(maven.contains("test-harness/cli"), maven);
    assertFalse(maven.contains("-Djofi.baseline"), maven);
    assertContains(run.err(), "compared with nothing: there is no release yet");
    assertContains(
        run.out(), "jofi-transport ", "3 files of version 1.2.0, ", repository.toString());
    for (String kind : List.of("jar", "pom", "sources.jar")) {
      assertContains(run.out(), kind);
    }
    assertContains(run.err(), "jofi: published into " + repository);
    assertEquals(0, tree.run("info").exitCode());
    assertEquals(1, tree.callsOf("mvn").size(), "the program was built on the way");
  }

  @Test
  void aVersionThatIsThereDoesNotChange() throws Exception {
    tree.run("publish", "--local=" + repository);

    Outcome again = tree.run("publish", "--local=" + repository);

    assertEquals(1, again.exitCode());
    assertContains(again.err(), "has version 1.2.0 already", "Name another folder");
    assertEquals(1, tree.callsOf("mvn").size());
    writePoms("1.2.0-SNAPSHOT");
    assertEquals(0, tree.run("publish", "--local=" + repository).exitCode());
  }

  @Test
  void theApiIsComparedWithTheLastRelease() throws Exception {
    Path pom = tree.root().resolve("pom.xml");
    Files.writeString(
        pom,
        Files.readString(pom)
            .replace("</version>", "</version><jofi.last-release>1.1.0</jofi.last-release>"));

    Outcome run = tree.run("publish", "--local", repository.toString());

    assertEquals(0, run.exitCode(), run.err());
    assertContains(run.err(), "comparing the API with version 1.1.0");
    assertContains(tree.callsOf("mvn").getFirst(), " -Djofi.baseline=1.1.0");
  }

  @Test
  void itGoesNowhereButIntoAFolder() throws Exception {
    for (String[] wrong :
        new String[][] {
          {},
          {"--local"},
          {"--local="},
          {"--local", "https://somewhere.example/releases"},
          {"file:///somewhere", "--local", repository.toString()}
        }) {
      String[] arguments = new String[wrong.length + 1];
      arguments[0] = "publish";
      System.arraycopy(wrong, 0, arguments, 1, wrong.length);
      Outcome run = tree.run(arguments);

      assertEquals(2, run.exitCode(), () -> String.join(" ", arguments) + ": " + run.err());
      assertContains(run.err(), "jofi publish --local DIR");
    }
    assertEquals(List.of(), tree.callsOf("mvn"));
    assertFalse(Files.exists(repository));
  }

  @Test
  void helpSaysWhatItDoes() throws Exception {
    Outcome help = tree.run("publish", "--help");

    assertEquals(0, help.exitCode());
    assertContains(help.out(), "usage: jofi publish --local DIR", "RELEASING.md", "exit codes:");
  }

  @Test
  void whatCannotBeDoneIsSaid() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "");
    Outcome noFolder = tree.run("publish", "--local", file.toString());
    assertEquals(1, noFolder.exitCode());
    assertContains(noFolder.err(), "cannot write to " + file, "name a folder");

    Outcome noBuild = tree.with("JOFI_NO_BUILD", "1").run("publish", "--local", "there");
    assertEquals(1, noBuild.exitCode());
    assertContains(noBuild.err(), "JOFI_NO_BUILD", "unset it");
    tree.without("JOFI_NO_BUILD");

    tree.maven("echo '[ERROR] broken'; exit 1");
    Outcome broken = tree.run("publish", "--local", repository.toString());
    assertEquals(1, broken.exitCode());
    assertEquals("", broken.out());
    assertContains(broken.err(), "[ERROR] broken", "publish.log");

    tree.maven("");
    Outcome nothing = tree.run("publish", "--local", repository.toString());
    assertEquals(1, nothing.exitCode());
    assertContains(nothing.err(), "laid out nothing");
  }

  private void writePoms(String version) throws IOException {
    String pom = "<project>\n  <version>" + version + "</version>\n%s</project>\n";
    Files.writeString(tree.root().resolve("pom.xml"), pom.formatted(""));
    Files.writeString(tree.root().resolve("test-harness/cli/pom.xml"), pom.formatted(""));
    Path module = Files.createDirectories(tree.root().resolve("api/transport"));
    Files.writeString(
        module.resolve("pom.xml"),
        pom.formatted("  <maven.deploy.skip>false</maven.deploy.skip>\n"));
  }
}
