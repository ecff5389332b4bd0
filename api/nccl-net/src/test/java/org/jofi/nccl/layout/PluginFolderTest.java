package org.jofi.nccl.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
