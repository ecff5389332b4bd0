package org.jofi.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Starts the real program as its users do: as modules, with native access denied to all but the
 * provider.
 */
class ModuleGraphTest {
  @TempDir private Path folder;

  @Test
  void everyModuleOfTheProgramResolves() throws Exception {
    Path modules = LauncherTree.PROJECT.resolve("test-harness/cli/target/modules");
    if (!Files.isDirectory(modules)) {
      String text = "the program is laid out in Maven's package phase only: run mvn verify";
      if ("true".equals(System.getenv("CI"))) {
        fail(text);
      }
      assumeTrue(false, text);
    }

    Path output = folder.resolve("output");
    List<String> lines = start(output);

    for (String module :
        List.of(
            "org.jofi.cli",
            "org.jofi.rdma",
            "org.jofi.mr",
            "org.jofi.transport",
            "org.jofi.libfabric")) {
      assertTrue(
          lines.stream().anyMatch(line -> line.startsWith("root " + module + " file:")),
          () -> module + " is not on the module path:\n" + String.join("\n", lines));
    }
    assertTrue(
        lines.stream().noneMatch(line -> line.contains("WARNING")), () -> String.join("\n", lines));
  }

  private static List<String> start(Path output) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(LauncherTree.PROJECT.resolve("jofi").toString(), "info")
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("JOFI_NO_BUILD", "1");
    builder.environment().put("JOFI_JAVA_OPTS", "--show-module-resolution");
    Process process = builder.start();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      fail("the program did not end");
    }
    List<String> lines = Files.readAllLines(output);
    assertEquals(0, process.exitValue(), () -> String.join("\n", lines));
    return lines;
  }
}
