package org.jofi.rdma.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jofi.rdma.topology.SysfsNet.NicKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a /sys as Linux 6.1 shows these interfaces. */
class SysfsNetTest {
  @TempDir Path root;

  private Path virtual(String name, String type, String devtype, String... lower)
      throws IOException {
    Path folder = Files.createDirectories(root.resolve("devices/virtual/net").resolve(name));
    Files.writeString(folder.resolve("type"), type + "\n");
    Files.writeString(
        folder.resolve("uevent"),
        (devtype.isEmpty() ? "" : "DEVTYPE=" + devtype + "\n")
            + "INTERFACE="
            + name
            + "\nIFINDEX=7\n");
    for (String below : lower) {
      Files.createSymbolicLink(folder.resolve("lower_" + below), folder.resolveSibling(below));
    }
    Files.createDirectories(root.resolve("class/net"));
    Files.createSymbolicLink(root.resolve("class/net").resolve(name), folder);
    return folder;
  }

  private NicKind kind(String name) {
    return new SysfsNet(root).kind(MadeUpSysfs.info("tcp", name, 0, Optional.empty()));
  }

  @Test
  void whatStandsNicKindEachKindOfInterface() throws Exception {
    new MadeUpSysfs(root).nic("eth0", "pci0000:00/0000:00:01.0/0000:01:00.0");
    virtual("lo", "772", "");
    virtual("veth1", "1", "");
    Files.createDirectories(virtual("docker0", "1", "bridge", "veth1").resolve("bridge"));
    Files.createDirectories(virtual("br0", "1", "bridge", "eth0", "veth1").resolve("bridge"));
    Files.createDirectories(virtual("bond0", "1", "bond", "eth0").resolve("bonding"));
    virtual("bond0.12", "1", "vlan", "bond0");
    virtual("vxlan7", "1", "vxlan", "eth0");
    virtual("wg0", "65534", "wireguard");
    Files.writeString(virtual("tun0", "65534", "").resolve("tun_flags"), "0x1\n");
    Files.writeString(virtual("tap0", "1", "").resolve("tun_flags"), "0x2\n");
    virtual("gre1", "778", "");
    virtual("loop", "1", "", "loop");
    for (String card : new String[] {"eth0", "br0", "bond0", "bond0.12"}) {
      assertEquals(NicKind.CARD, kind(card), card);
    }
    for (String kernel : new String[] {"veth1", "loop"}) {
      assertEquals(NicKind.KERNEL, kind(kernel), kernel);
    }
    for (String other : new String[] {"docker0", "vxlan7", "wg0", "tun0", "tap0", "gre1"}) {
      assertEquals(NicKind.ANOTHER_NETWORK, kind(other), other);
    }
    assertEquals(NicKind.LOOPBACK, kind("lo"));
  }

  @Test
  void whatIsNoInterfaceIsACard() {
    assertEquals(NicKind.CARD, kind("rdmap16s27-rdm"));
    assertEquals(NicKind.CARD, kind("../eth0"));
    assertEquals(NicKind.LOOPBACK, kind("lo"));
  }
}
