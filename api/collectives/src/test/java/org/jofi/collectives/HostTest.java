package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostTest {
  @TempDir private Path root;

  private Host host() throws IOException {
    Files.createDirectories(root.resolve("proc/self/ns"));
    Files.createDirectories(root.resolve("proc/sys/kernel/random"));
    Files.createDirectories(root.resolve("dev/shm"));
    Files.writeString(root.resolve("proc/sys/kernel/hostname"), "node1\n");
    Files.writeString(root.resolve("proc/sys/kernel/random/boot_id"), "1b4e28ba\n");
    for (String each : List.of("pid", "user", "ipc", "net")) {
      Path link = root.resolve("proc/self/ns").resolve(each);
      Files.deleteIfExists(link);
      Files.createSymbolicLink(link, Path.of(each + ":[4026531836]"));
    }
    return Host.of(root);
  }

  @Test
  void aProcessKnowsItsHost() {
    assertTrue(Host.here().isKnown());
    assertEquals(Host.here(), Host.here());
  }

  /** Another machine, one that was started again, and another container of the same. */
  @ParameterizedTest
  @ValueSource(strings = {"hostname", "random/boot_id"})
  void whatAKernelSaysTellsHostsApart(String file) throws IOException {
    Host before = host();
    Files.writeString(root.resolve("proc/sys/kernel").resolve(file), "other\n");
    assertTrue(before.isKnown() && Host.of(root).isKnown());
    assertNotEquals(before, Host.of(root));
    assertEquals(before, host());
  }

  @ParameterizedTest
  @ValueSource(strings = {"pid", "user", "ipc", "net"})
  void namespacesTellHostsApart(String namespace) throws IOException {
    Host before = host();
    Path link = root.resolve("proc/self/ns").resolve(namespace);
    Files.delete(link);
    Files.createSymbolicLink(link, Path.of(namespace + ":[4026532000]"));
    assertTrue(Host.of(root).isKnown());
    assertNotEquals(before, Host.of(root));
  }

  /** The memory of one is another file system than that of the other. */
  @Test
  void sharedMemoryTellsHostsApart() throws IOException {
    Host before = host();
    Files.delete(root.resolve("dev/shm"));
    Files.createSymbolicLink(root.resolve("dev/shm"), Path.of("/proc"));
    assertTrue(Host.of(root).isKnown());
    assertNotEquals(before, Host.of(root));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "proc/sys/kernel/random/boot_id",
        "proc/self/ns/ipc",
        "dev/shm",
        "proc/sys/kernel/hostname"
      })
  void whereAnythingIsMissingTheHostIsNotKnown(String file) throws IOException {
    assertTrue(host().isKnown());
    Files.delete(root.resolve(file));
    assertFalse(Host.of(root).isKnown());
  }

  @Test
  void whatIsEmptyOrTooLongIsNotKnown() throws IOException {
    assertTrue(host().isKnown());
    Path boot = root.resolve("proc/sys/kernel/random/boot_id");
    Files.writeString(boot, "\n");
    assertFalse(Host.of(root).isKnown());
    Files.writeString(boot, "x".repeat(1100));
    assertFalse(Host.of(root).isKnown());
    assertThrows(IllegalArgumentException.class, () -> new Host("x".repeat(1025)));
  }
}
