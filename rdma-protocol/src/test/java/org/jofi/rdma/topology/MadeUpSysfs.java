package org.jofi.rdma.topology;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.NicAttributes;
import org.jofi.fabric.PciAddress;

/** A /sys of one's own, with links as the kernel makes them. */
record MadeUpSysfs(Path root) {

  /** A PCI device at a path such as {@code pci0000:00/0000:00:01.0/0000:01:00.0}. */
  Path device(String path, String kind, int numaNode) {
    try {
      Path device = Files.createDirectories(root.resolve("devices").resolve(path));
      Files.writeString(device.resolve("class"), kind + "\n");
      Files.writeString(device.resolve("numa_node"), numaNode + "\n");
      link(root.resolve("bus/pci/devices").resolve(device.getFileName().toString()), device);
      return device;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  void gpu(String path) {
    device(path, "0x030200", 0);
  }

  /** A network interface on PCI. */
  void nic(String name, String path) {
    nic("net", name, path);
  }

  /** A NIC of some class on PCI, such as {@code infiniband}. */
  void nic(String kind, String name, String path) {
    Path device = device(path, "0x020000", 0);
    try {
      Path net = Files.createDirectories(device.resolve(kind).resolve(name));
      link(root.resolve("class").resolve(kind).resolve(name), net);
      link(net.resolve("device"), device);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static void link(Path from, Path to) throws IOException {
    Files.createDirectories(from.getParent());
    Files.createSymbolicLink(from, to);
  }

  static FabricInfo info(String provider, String name, long speed, Optional<PciAddress> pci) {
    return info(provider, name, speed, pci, EnumSet.noneOf(MrMode.class));
  }

  static FabricInfo info(
      String provider, String name, long speed, Optional<PciAddress> pci, Set<MrMode> modes) {
    return FabricInfo.builder(provider, "net", name)
        .limits(new FabricLimits(8, 4, 64, 1L << 30, 256, 256, 1, 0))
        .mrModes(modes)
        .nic(
            new NicAttributes(
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                pci,
                speed,
                0,
                Optional.empty()))
        .build();
  }
}
