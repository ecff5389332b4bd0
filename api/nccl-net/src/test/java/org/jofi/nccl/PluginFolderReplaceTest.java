package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.nccl.layout.PluginFolder;
import org.jofi.nccl.layout.PluginFolderException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder is laid out where nothing is lost by it. */
class PluginFolderReplaceTest {
  private static final List<Path> MODULES = PluginUnderTest.modulePath();

  @TempDir private Path scratch;
  private Path folder;

  @BeforeEach
  void requireLibrary() {
    assumeTrue(
        PluginFolder.class.getResource("/META-INF/native/linux-x86_64/" + PluginFolder.LIBRARY)
            != null,
        "the plugin was built without gcc: apt-get install gcc libc6-dev");
    folder = scratch.resolve("plugin");
  }

  private void refused(String word) {
    PluginFolderException refused =
        assertThrows(PluginFolderException.class, () -> PluginFolder.create(folder, MODULES));

    assertFalse(refused.isLacking());
    assertTrue(refused.getMessage().contains(word), refused::getMessage);
    assertTrue(refused.getMessage().contains("name a new folder"), refused::getMessage);
  }

  private List<String> beside() throws IOException {
    try (Stream<Path> entries = Files.list(scratch)) {
      return entries.map(entry -> entry.getFileName().toString()).toList();
    }
  }

  /** Say ~/lib, into which somebody copied the library. */
  @Test
  void aFolderThatOnlyHoldsTheLibraryAmongOthersIsLeftAlone() throws Exception {
    Files.createDirectory(folder);
    Files.writeString(folder.resolve(PluginFolder.LIBRARY), "library");
    Files.writeString(folder.resolve("letter.txt"), "dear");

    refused("letter.txt");

    assertEquals("dear", Files.readString(folder.resolve("letter.txt")));
    assertEquals("library", Files.readString(folder.resolve(PluginFolder.LIBRARY)));
  }

  @Test
  void aFolderThatOnlyHoldsTheLibraryIsLeftAlone() throws Exception {
    Files.createDirectory(folder);
    Files.writeString(folder.resolve(PluginFolder.LIBRARY), "library");

    refused(PluginFolder.LINK);

    assertEquals("library", Files.readString(folder.resolve(PluginFolder.LIBRARY)));
  }

  @Test
  void aPluginWithSomethingElseInItIsLeftAlone() throws Exception {
    PluginFolder.create(folder, MODULES);
    Files.writeString(folder.resolve("letter.txt"), "dear");

    refused("letter.txt");

    assertEquals("dear", Files.readString(folder.resolve("letter.txt")));
  }

  @Test
  void aFileIsNoFolder() throws Exception {
    Files.writeString(folder, "dear");

    refused("is no folder");

    assertEquals("dear", Files.readString(folder));
  }

  @Test
  void aPluginOfBeforeIsReplaced() throws Exception {
    PluginFolder.create(folder, MODULES);
    Path stale = Files.writeString(folder.resolve("modules/old.jar"), "old");

    PluginFolder.create(folder, MODULES);

    assertFalse(Files.exists(stale));
    assertTrue(Files.isRegularFile(folder.resolve("jvm.options")));
    assertEquals(List.of("plugin"), beside());
  }

  @Test
  void aLinkToAFolderStaysOne() throws Exception {
    Path real = scratch.resolve("real");
    PluginFolder.create(real, MODULES);
    Files.createSymbolicLink(folder, real);

    PluginFolder.create(folder, MODULES);

    assertTrue(Files.isSymbolicLink(folder));
    assertTrue(Files.isRegularFile(real.resolve("jvm.options")));
  }

  private void failsHalfWay() {
    PluginFolderException failed =
        assertThrows(
            PluginFolderException.class,
            () ->
                PluginFolder.create(
                    folder, MODULES, started -> started.withRuntime(scratch, MODULES)));
    assertTrue(failed.isLacking());
  }

  @Test
  void aFailureLeavesThePluginOfBeforeWhole() throws Exception {
    PluginFolder.create(folder, MODULES);
    Path mark = Files.writeString(folder.resolve("modules/mark.jar"), "mark");

    failsHalfWay();

    assertEquals("mark", Files.readString(mark));
    assertTrue(Files.isRegularFile(folder.resolve(PluginFolder.LIBRARY)));
    assertEquals(List.of("plugin"), beside());
  }

  @Test
  void aFailureLeavesNothingWhereNothingWas() throws Exception {
    failsHalfWay();
    assertEquals(List.of(), beside());

    Files.createDirectory(folder);
    failsHalfWay();
    try (Stream<Path> entries = Files.list(folder)) {
      assertEquals(0, entries.count());
    }
  }
}
