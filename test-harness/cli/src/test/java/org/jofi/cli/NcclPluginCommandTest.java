package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.jofi.nccl.layout.PluginFolder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class NcclPluginCommandTest {
  @TempDir private Path scratch;

  private static void requireLibrary() {
    assumeTrue(
        PluginFolder.class.getResource("/META-INF/native/linux-x86_64/" + PluginFolder.LIBRARY)
            != null,
        "the plugin was built without gcc: apt-get install gcc libc6-dev");
  }

  @Test
  void laysTheFolderOutAndPrintsTheVariables() throws Exception {
    requireLibrary();
    Path folder = scratch.resolve("plugin");

    CommandProcess.Outcome outcome =
        CommandProcess.run(scratch, Map.of(), "nccl-plugin", "--output", folder.toString());

    assertEquals(0, outcome.code(), outcome.err());
    assertTrue(outcome.out().contains("export NCCL_NET=jofi"), outcome.out());
    assertTrue(outcome.out().contains("export LD_LIBRARY_PATH=" + folder), outcome.out());
    assertEquals(
        Path.of(PluginFolder.LIBRARY), Files.readSymbolicLink(folder.resolve(PluginFolder.LINK)));
    assertTrue(Files.isRegularFile(folder.resolve("jre/lib/server/libjvm.so")));
    assertTrue(
        Files.readString(folder.resolve("jvm.options")).contains("org.jofi.libfabric.bindings"));
    try (Stream<Path> modules = Files.list(folder.resolve("modules"))) {
      assertTrue(
          modules.noneMatch(module -> module.toString().contains("picocli")),
          "what the plugin does not need is in it");
    }
  }

  @Test
  void aFolderInUseIsRefused() throws Exception {
    requireLibrary();
    Files.writeString(scratch.resolve("letter.txt"), "dear");

    CommandProcess.Outcome outcome =
        CommandProcess.run(scratch, Map.of(), "nccl-plugin", "--output", scratch.toString());

    assertEquals(1, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("name a new folder"), outcome.err());
  }

  @Test
  void withoutAFolderItIsWrongUsage() throws Exception {
    CommandProcess.Outcome outcome = CommandProcess.run(scratch, Map.of(), "nccl-plugin");

    assertEquals(2, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("--output"), outcome.err());
  }
}
