package org.jofi.doctor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jofi.doctor.machine.MachineFiles;

/** A machine's /sys and /proc, written as the kernel shows them. */
final class MachineTree {
  private final Path root;

  MachineTree(Path root) {
    this.root = root;
  }

  Path root() {
    return root;
  }

  Diagnosis examine() {
    try {
      return Doctor.examine(new MachineFiles(root), Optional.empty());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  // --- Files

  Path at(String path) {
    return root.resolve(path.substring(1));
  }

  MachineTree write(String path, String text) {
    return write(path, text.getBytes(StandardCharsets.UTF_8));
  }

  MachineTree write(String path, byte[] bytes) {
    try {
      remove(path);
      Files.createDirectories(at(path).getParent());
      Files.write(at(path), bytes);
      return this;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** A relative link, as those of sysfs are. */
  MachineTree link(String path, String target) {
    try {
      remove(path);
      Path folder = Files.createDirectories(at(path).getParent()).toRealPath();
      Files.createSymbolicLink(
          at(path), folder.relativize(root.toRealPath().resolve(target.substring(1))));
      return this;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  MachineTree folder(String path) {
    try {
      Files.createDirectories(at(path));
      return this;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Takes away a file, a link or a folder with all that is in it. */
  MachineTree remove(String path) {
    if (!Files.exists(at(path), LinkOption.NOFOLLOW_LINKS)) {
      return this;
    }
    try (Stream<Path> all = Files.walk(at(path))) {
      for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
      return this;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  // --- The host

  MachineTree kernel(String release, String commandLine, String... modules) {
    StringBuilder loaded = new StringBuilder();
    for (String module : modules) {
      loaded.append(module).append(" 65536 0 - Live 0x0000000000000000\n");
    }
    folder("/sys/kernel/iommu_groups");
    return write("/proc/sys/kernel/osrelease", release + "\n")
        .write("/proc/cmdline", commandLine + "\n")
        .write("/proc/modules", loaded.toString());
  }

  MachineTree limits(String memlock, String files) {
    return write(
            "/proc/self/limits",
            """
            Limit                     Soft Limit           Hard Limit           Units
            Max cpu time              unlimited            unlimited            seconds
            Max locked memory         %1$-20s %1$-20s bytes
            Max open files            1024                 %2$-20s files
            Max processes             1000                 1000                 processes
            """
                .formatted(memlock, files))
        .write(
            "/proc/self/status",
            "Name:\tjava\nUid:\t1000\t1000\nThreads:\t20\nCapEff:\t0000000000000000\n")
        .write("/proc/self/cgroup", "0::/job/step\n")
        .write("/proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        .write("/proc/1/stat", "1 (init) S 0")
        .write(
            "/proc/self/mounts",
            "proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs rw,nosuid,nodev,inode64 0 0\n");
  }

  MachineTree hugePages(int total, int free) {
    return write(
            "/proc/meminfo",
            """
            MemTotal:       263764608 kB
            HugePages_Total:    %d
            HugePages_Free:     %d
            Hugepagesize:       2048 kB
            """
                .formatted(total, free))
        .write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  }

  MachineTree nvidia(String version, boolean open) {
    return write(
        "/proc/driver/nvidia/version",
        (open
                    ? "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  %s  Release Build\n"
                    : "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Thu Sep 30 16:00:29 UTC 2021\n")
                .formatted(version)
            + "GCC version:  gcc version 8.5.0 20210514 (Red Hat 8.5.0-4) (GCC)\n");
  }

  // --- PCI

  static String device(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** A function at such as {@code pci0000:00/0000:00:01.0/0000:01:00.0}, and its bridges. */
  MachineTree pci(String path, String kind, String identity, String driver, Place place) {
    String parent = path.substring(0, path.lastIndexOf('/'));
    if (parent.contains("/") && !Files.exists(at("/sys/devices/" + parent + "/class"))) {
      pci(parent, "0x060400", "8086:2030", "pcieport", place);
      config(device(parent), ConfigBytes.bridge(0));
    }
    String folder = "/sys/devices/" + path;
    write(folder + "/class", kind + "\n");
    write(folder + "/vendor", "0x" + identity.substring(0, 4) + "\n");
    write(folder + "/device", "0x" + identity.substring(5) + "\n");
    write(folder + "/numa_node", place.numa + "\n");
    write(folder + "/local_cpulist", place.cpus + "\n");
    write(folder + "/config", ConfigBytes.plain());
    link("/sys/bus/pci/devices/" + device(path), folder);
    if (!driver.isEmpty()) {
      folder("/sys/bus/pci/drivers/" + driver);
      link(folder + "/driver", "/sys/bus/pci/drivers/" + driver);
    }
    return this;
  }

  MachineTree config(String address, byte[] bytes) {
    return write("/sys/bus/pci/devices/" + address + "/config", bytes);
  }

  MachineTree gpu(String path, String identity, String model, long bar1, Place place) {
    pci(path, "0x030200", identity, "nvidia", place);
    bar1(device(path), bar1);
    return write(
        "/proc/driver/nvidia/gpus/" + device(path) + "/information",
        "Model: \t\t %s\nIRQ:   \t\t 178\nBus Location: \t %s\n".formatted(model, device(path)));
  }

  MachineTree bar1(String address, long bytes) {
    long start = 0x3800_0000_0000L;
    return write(
        "/sys/bus/pci/devices/" + address + "/resource",
        bytes == 0
            ? "0x0000000000000000 0x0000000000000000 0x0000000000000000\n".repeat(13)
            : "0x00000000b4000000 0x00000000b4ffffff 0x0000000000040200\n"
                + "0x%016x 0x%016x 0x000000000014220c\n".formatted(start, start + bytes - 1)
                + "0x0000000000000000 0x0000000000000000 0x0000000000000000\n".repeat(11));
  }

  /** As of Hopper and what came after: every window has a 64-bit address. */
  MachineTree wideBar1(String address, long bytes) {
    long start = 0x3800_0000_0000L;
    String free = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
    return write(
        "/sys/bus/pci/devices/" + address + "/resource",
        "0x0000039042000000 0x0000039042ffffff 0x000000000014220c\n"
            + free
            + (bytes == 0
                ? "0x0000000000000000 0x0000000000000000 0x000000002014220c\n"
                : "0x%016x 0x%016x 0x000000000014220c\n".formatted(start, start + bytes - 1))
            + free
            + "0x0000039040000000 0x0000039041ffffff 0x000000000014220c\n"
            + free.repeat(8));
  }

  MachineTree rdmaNic(String path, String identity, Port port, Place place) {
    netdev(path, identity, "mlx5_core", port, place);
    String folder = "/sys/devices/" + path;
    String rdma = folder + "/infiniband/" + port.rdma;
    write(rdma + "/fw_ver", port.firmware + "\n");
    write(rdma + "/ports/1/state", port.up ? "4: ACTIVE\n" : "1: DOWN\n");
    write(rdma + "/ports/1/rate", port.gigabits + " Gb/sec (4X EDR)\n");
    write(rdma + "/ports/1/link_layer", "Ethernet\n");
    return link("/sys/class/infiniband/" + port.rdma, rdma);
  }

  MachineTree netdev(String path, String identity, String driver, Port port, Place place) {
    pci(path, "0x020000", identity, driver, place);
    String net = "/sys/devices/" + path + "/net/" + port.net;
    write(net + "/address", port.mac + "\n");
    write(net + "/operstate", port.up ? "up\n" : "down\n");
    write(net + "/speed", (port.up ? port.gigabits * 1000 : -1) + "\n");
    return link("/sys/class/net/" + port.net, net);
  }

  /** An IOMMU's group of a function. */
  MachineTree iommuGroup(String address, int group, String type) {
    String folder = "/sys/kernel/iommu_groups/" + group;
    write(folder + "/type", type + "\n");
    return link("/sys/bus/pci/devices/" + address + "/iommu_group", folder);
  }

  /** All files and links, in order. */
  List<String> files() {
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(path -> !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
          .map(path -> "/" + root.relativize(path))
          .sorted()
          .toList();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /**
   * What a function is close to.
   *
   * @param numa NUMA node; -1 if firmware does not tell
   * @param cpus processors
   */
  record Place(int numa, String cpus) {}

  /**
   * A NIC's port.
   *
   * @param rdma RDMA device; empty if it is none
   * @param net network interface
   * @param mac its address
   * @param firmware version
   * @param up whether it has a link
   * @param gigabits its speed, per second
   */
  record Port(String rdma, String net, String mac, String firmware, boolean up, int gigabits) {}
}
