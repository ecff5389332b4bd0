package org.jofi.nccl.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedLibrariesTest {
  private static final Path LIBRARY = Path.of("/opt/libfabric.so.1");

  @Test
  void theSystemsOwnAreLeftOut() {
    String printed =
        """
        \tlinux-vdso.so.1 (0x00007ffc)
        \tlibpsm2.so.2 => /lib/x86_64-linux-gnu/libpsm2.so.2 (0x00007f01)
        \tlibpthread.so.0 => /lib/x86_64-linux-gnu/libpthread.so.0 (0x00007f02)
        \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f03)
        \t/lib64/ld-linux-x86-64.so.2 (0x00007f04)
        \tlibnuma.so.1 => /lib/x86_64-linux-gnu/libnuma.so.1 (0x00007f05)
        """;

    SharedLibraries needed = SharedLibraries.parse(LIBRARY, printed);

    assertEquals(
        List.of(
            Path.of("/lib/x86_64-linux-gnu/libpsm2.so.2"),
            Path.of("/lib/x86_64-linux-gnu/libnuma.so.1")),
        needed.files());
    assertEquals(Set.of(), needed.others());
  }

  /** Another driver's, or rdma-core's, would not match the kernel or the plugins that are there. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "libcuda.so.1",
        "libcudart.so.12",
        "libnvidia-ml.so.1",
        "libstdc++.so.6",
        "libgcc_s.so.1",
        "libibverbs.so.1",
        "librdmacm.so.1",
        "libefa.so.1",
        "libmlx5.so.1",
        "libnl-route-3.so.200"
      })
  void theMachinesOwnAreLeftOutAndNamed(String name) {
    String there = "\t%s => /lib/x86_64-linux-gnu/%s (0x00007f01)%n".formatted(name, name);
    String lacking = "\t%s => not found%n".formatted(name);

    for (String printed : List.of(there, lacking)) {
      SharedLibraries needed = SharedLibraries.parse(LIBRARY, printed);
      assertEquals(List.of(), needed.files());
      assertEquals(Set.of(name), needed.others());
    }
  }

  @Test
  void aMissingOneIsNamed() {
    PluginFolderException missing =
        assertThrows(
            PluginFolderException.class,
            () -> SharedLibraries.parse(LIBRARY, "\tlibopx.so.2 => not found\n"));

    assertTrue(missing.isLacking());
    assertTrue(missing.getMessage().contains("libopx.so.2"), missing::getMessage);
  }
}
