package org.jofi.nccl.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PluginFolderTest {
  @TempDir private Path scratch;

  @Test
  void aFolderWithSomethingElseIsLeftAlone() throws Exception {
    Path letter = Files.writeString(scratch.resolve("letter.txt"), "dear");

    // Which modules there are is looked at before, so that a plugin of before stays if one lacks.
    PluginFolderException refused =
        assertThrows(
            PluginFolderException.class, () -> PluginFolder.create(scratch, List.of(scratch)));

    assertTrue(refused.isLacking());
    assertTrue(refused.getMessage().contains("org.jofi.nccl"), refused::getMessage);
    assertEquals("dear", Files.readString(letter));
  }

  @Test
  void aFolderThatIsTooLargeIsRefused() throws Exception {
    Path folder = Files.createDirectories(scratch.resolve("plugin"));
    try (RandomAccessFile file = new RandomAccessFile(folder.resolve("large").toFile(), "rw")) {
      file.setLength(PluginFolder.MOST_BYTES + 1);
    }

    PluginFolderException refused =
        assertThrows(PluginFolderException.class, () -> PluginFolder.of(folder).checkSize());

    assertFalse(refused.isLacking());
  }

  @Test
  void theVariablesNameTheFolder() {
    var environment = PluginFolder.of(scratch).environment();

    assertTrue(environment.get("LD_LIBRARY_PATH").startsWith(scratch.toAbsolutePath().toString()));
    assertEquals("jofi", environment.get("NCCL_NET"));
    assertEquals("jofi", environment.get("NCCL_NET_PLUGIN"));
  }

  /** What sh makes of the lines, given that LD_LIBRARY_PATH before. */
  private String inShell(String eval, Path folder, String before) throws Exception {
    Path lines = scratch.resolve("lines");
    Files.write(lines, PluginFolder.of(folder).exports());
    ProcessBuilder builder =
        new ProcessBuilder(
            "/bin/sh",
            "-c",
            eval + "; printf %s \"$NCCL_NET|$LD_LIBRARY_PATH\"",
            "sh",
            lines.toString());
    builder.environment().clear();
    builder.environment().put("PATH", System.getenv("PATH"));
    if (!before.isEmpty()) {
      builder.environment().put("LD_LIBRARY_PATH", before);
    }
    Process shell = builder.redirectErrorStream(true).start();
    String printed = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, shell.waitFor(), printed);
    return printed;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"plain", "with space", "it's", "two  spaces 'and' \"quotes\"", "$HOME `id` \\ *"})
  void aShellTakesTheLinesAsTheyAreMeant(String name) throws Exception {
    Path folder = scratch.toAbsolutePath().resolve(name);

    assertEquals("jofi|" + folder, inShell("eval \"$(cat \"$1\")\"", folder, ""));
    assertEquals(
        "jofi|" + folder + ":/opt/a b:/opt/c",
        inShell("eval \"$(cat \"$1\")\"", folder, "/opt/a b:/opt/c"));
    assertEquals("jofi|" + folder, inShell(". \"$1\"", folder, ""));
  }

  @Test
  void anEvalWithoutQuotesDoesAsWell() throws Exception {
    Path folder = scratch.toAbsolutePath().resolve("it's a plugin");

    assertEquals("jofi|" + folder + ":/opt", inShell("eval $(cat \"$1\")", folder, "/opt"));
  }

  @Test
  void aHomeWithoutJlinkIsTold() {
    PluginFolderException lacking =
        assertThrows(
            PluginFolderException.class,
            () -> PluginFolder.of(scratch).withRuntime(scratch, List.of()));

    assertTrue(lacking.isLacking());
    assertTrue(lacking.getMessage().contains("jlink"), lacking::getMessage);
  }

  @Test
  void aLibfabricThatIsNotThereIsTold() {
    Path nowhere = scratch.resolve("libfabric.so.1");

    assertTrue(
        assertThrows(
                PluginFolderException.class, () -> PluginFolder.of(scratch).withLibfabric(nowhere))
            .isLacking());
  }
}
