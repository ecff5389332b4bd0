package org.jofi.rdma.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SysfsPciTest {
  @Test
  void aServersOwnDisplayIsNoGpu(@TempDir Path root) throws IOException {
    MadeUpSysfs sysfs = new MadeUpSysfs(root);
    SysfsPci pci = new SysfsPci(root);
    assertFalse(pci.hasNvidiaGpu());
    Path display = sysfs.device("pci0000:00/0000:00:05.0", "0x030000", 0);
    Files.writeString(display.resolve("vendor"), "0x1a03\n");
    Path nic = sysfs.device("pci0000:00/0000:00:06.0", "0x020700", 0);
    Files.writeString(nic.resolve("vendor"), "0x10de\n");
    assertFalse(pci.hasNvidiaGpu());
    Path gpu = sysfs.device("pci0000:00/0000:00:07.0", "0x030200", 0);
    Files.writeString(gpu.resolve("vendor"), "0x10de\n");
    assertTrue(pci.hasNvidiaGpu());
    assertEquals(2, pci.accelerators().size());
  }
}
