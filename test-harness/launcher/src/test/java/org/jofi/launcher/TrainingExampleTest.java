package org.jofi.launcher;

import static org.jofi.launcher.LauncherTree.assertContains;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.jofi.launcher.LauncherTree.Outcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The script of the example that needs jars beside jofi's, on a machine without network. */
@Timeout(180)
class TrainingExampleTest {
  @TempDir private Path folder;
  private LauncherTree tree;
  private Path example;

  @BeforeEach
  void makeTree() throws IOException {
    tree = new LauncherTree(folder);
    example = Files.createDirectories(tree.root().resolve("examples/training"));
    for (String file : List.of("run", "pom.xml", "DataParallel.java")) {
      Files.copy(
          LauncherTree.PROJECT.resolve("examples/training").resolve(file),
          example.resolve(file),
          StandardCopyOption.COPY_ATTRIBUTES);
    }
  }

  private Outcome run(String... arguments) throws Exception {
    return tree.run(example.resolve("run"), folder, arguments);
  }

  @Test
  void explainsItselfWithoutAnything() throws Exception {
    Outcome help = run("--help");

    assertEquals(0, help.exitCode(), help.err());
    assertContains(help.out(), "usage: examples/training/run", "--star grpc", "inference");
  }

  @Test
  void namesWhatToInstall() throws Exception {
    tree.jdk("jdk-25", "25.0.3");

    Outcome none = run();

    assertEquals(3, none.exitCode());
    assertContains(none.err(), "training/run: missing: Maven 3.8.7 or newer");
  }

  @Test
  void saysWhyNothingWasFetched() throws Exception {
    tree.jdk("jdk-25", "25.0.3");
    tree.maven(
        "echo '[ERROR] x: Could not transfer artifact ai.djl:api:pom:0.36.0 from/to central"
            + " (https://example.org): example.org: unknown host -> [Help 1]'; exit 1");

    Outcome none = run();

    assertEquals(1, none.exitCode());
    assertContains(
        none.err(),
        "training/run: a download failed: ai.djl:api:pom:0.36.0 from central",
        "see whether this machine reaches the network");
  }

  @Test
  void fetchesOnceAndRunsTheProgramOnJofisLauncher() throws Exception {
    tree.jdk("jdk-25", "25.0.3");
    tree.maven();
    LauncherTree.program(
        tree.root().resolve("jofi"), "printf '%s\\n' \"$CLASSPATH\" \"$DJL_CACHE_DIR\" \"$@\"");

    Outcome first = run("--ranks", "2");
    Outcome second = run("inference", "--tokens", "8");

    assertEquals(0, first.exitCode(), first.err());
    assertEquals(
        List.of(
            example + "/target/jars/*",
            example + "/target/djl",
            "run",
            tree.root() + "/examples/training/DataParallel.java",
            "--ranks",
            "2"),
        first.out().lines().toList());
    assertEquals(
        List.of(
            "run",
            tree.root() + "/examples/inference/TensorParallel.java",
            "--star",
            "grpc",
            "--tokens",
            "8"),
        second.out().lines().skip(2).toList());
    assertEquals("", second.err());
    assertEquals(1, tree.callsOf("mvn").size());
    assertContains(tree.callsOf("mvn").getFirst(), "dependency:copy-dependencies");
  }
}
