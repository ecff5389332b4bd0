package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jofi.nccl.layout.PluginFolder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
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
    Path folder = scratch.resolve("its 'plugin'");

    CommandProcess.Outcome outcome =
        CommandProcess.runHere("nccl-plugin", "--output", folder.toString());

    assertEquals(0, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("MiB, for glibc 2."), outcome.err());
    assertEquals(folder + ":/opt/lib jofi", evaluated(outcome.out()));
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
    assertFalse(outcome.err().contains("no start cache"), outcome.err());
    startsFromItsCache(copy(folder));
  }

  /** As a program of the system copies it: with new times. */
  private Path copy(Path folder) throws Exception {
    Path copy = scratch.resolve("copy elsewhere");
    assertEquals(
        0, new ProcessBuilder("cp", "-r", folder.toString(), copy.toString()).start().waitFor());
    return copy;
  }

  /** By an option that the plugin does not use: with it, a cache that does not fit is an error. */
  private static void startsFromItsCache(Path folder) throws Exception {
    Process java =
        new ProcessBuilder(
                folder.resolve("jre/bin/java").toString(),
                "-XX:AOTMode=on",
                "-XX:AOTCache=" + folder.resolve("jofi.aot"),
                "-XX:+UseSerialGC",
                "-XX:VMOptionsFile=" + folder.resolve("jvm.options"),
                "-version")
            .redirectErrorStream(true)
            .start();
    String printed = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, java.waitFor(), printed);
  }

  /** What a shell has in its variables once it evaluated that. */
  private static String evaluated(String lines) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            "/bin/sh", "-c", "eval \"$1\"; printf %s \"$LD_LIBRARY_PATH $NCCL_NET\"", "sh", lines);
    builder.environment().put("LD_LIBRARY_PATH", "/opt/lib");
    Process shell = builder.redirectErrorStream(true).start();
    String printed = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, shell.waitFor(), printed);
    return printed;
  }

  @Test
  void aFolderInUseIsRefused() throws Exception {
    requireLibrary();
    Files.writeString(scratch.resolve("letter.txt"), "dear");

    CommandProcess.Outcome outcome =
        CommandProcess.runHere("nccl-plugin", "--output", scratch.toString());

    assertEquals(1, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("name a new folder"), outcome.err());
  }

  @Test
  void withoutAFolderItIsWrongUsage() throws Exception {
    CommandProcess.Outcome outcome = CommandProcess.runHere("nccl-plugin");

    assertEquals(2, outcome.code(), outcome.err());
    assertTrue(outcome.err().contains("--output"), outcome.err());
  }
}
