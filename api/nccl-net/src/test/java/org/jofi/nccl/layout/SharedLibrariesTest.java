package org.jofi.nccl.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class SharedLibrariesTest {
  private static final Path LIBRARY = Path.of("/opt/libfabric.so.1");

  @Test
  void theSystemsOwnAreLeftOut() {
    String printed =
        """
        \tlinux-vdso.so.1 (0x00007ffc)
        \tlibefa.so.1 => /lib/x86_64-linux-gnu/libefa.so.1 (0x00007f01)
        \tlibpthread.so.0 => /lib/x86_64-linux-gnu/libpthread.so.0 (0x00007f02)
        \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f03)
        \t/lib64/ld-linux-x86-64.so.2 (0x00007f04)
        \tlibnl-3.so.200 => /lib/x86_64-linux-gnu/libnl-3.so.200 (0x00007f05)
        """;

    assertEquals(
        List.of(
            Path.of("/lib/x86_64-linux-gnu/libefa.so.1"),
            Path.of("/lib/x86_64-linux-gnu/libnl-3.so.200")),
        SharedLibraries.parse(LIBRARY, printed));
  }

  @Test
  void aMissingOneIsNamed() {
    PluginFolderException missing =
        assertThrows(
            PluginFolderException.class,
            () -> SharedLibraries.parse(LIBRARY, "\tlibpsm2.so.2 => not found\n"));

    assertTrue(missing.isLacking());
    assertTrue(missing.getMessage().contains("libpsm2.so.2"), missing::getMessage);
  }
}
