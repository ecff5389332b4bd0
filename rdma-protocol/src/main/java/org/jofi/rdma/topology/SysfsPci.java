package org.jofi.rdma.topology;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.PciAddress;

/**
 * Reads PCI locality from sysfs. What cannot be read is unknown, and never an error: containers
 * hide it, and virtual NICs have none.
 */
public final class SysfsPci {
  /** Where NICs of each kind are listed, with a link to their PCI device. */
  private static final List<String> NIC_CLASSES = List.of("net", "infiniband", "cxi");

  private static final String DISPLAY_CLASS = "0x03";
  private static final String ACCELERATOR_CLASS = "0x12";
  private static final String NVIDIA = "0x10de";

  private final Path root;

  /**
   * @param root what is mounted at /sys
   */
  public SysfsPci(Path root) {
    this.root = root;
  }

  /** Where a NIC sits, by its PCI address if the provider told it, else by its name. */
  public Optional<PciPath> locate(FabricInfo nic) {
    Optional<PciAddress> told = nic.nic().pci();
    if (told.isPresent()) {
      return locate(root.resolve("bus/pci/devices").resolve(told.get().toString()));
    }
    String name = nic.nic().device().orElse(nic.domainName());
    if (!isName(name)) {
      return Optional.empty();
    }
    return NIC_CLASSES.stream()
        .map(kind -> locate(root.resolve("class").resolve(kind).resolve(name).resolve("device")))
        .flatMap(Optional::stream)
        .findFirst();
  }

  /** GPUs and other accelerators, in the order of their addresses. */
  public List<PciPath> accelerators() {
    return acceleratorFolders().stream()
        .map(SysfsPci::locate)
        .flatMap(Optional::stream)
        .sorted(Comparator.comparing(PciPath::device))
        .toList();
  }

  /** Whether a GPU of NVIDIA is among them; a server's own display controller is none. */
  public boolean hasNvidiaGpu() {
    return acceleratorFolders().stream()
        .anyMatch(folder -> read(folder.resolve("vendor")).equals(NVIDIA));
  }

  private List<Path> acceleratorFolders() {
    List<Path> found = new ArrayList<>();
    for (Path entry : list(root.resolve("bus/pci/devices"), "*")) {
      String kind = read(entry.resolve("class"));
      if (kind.startsWith(DISPLAY_CLASS) || kind.startsWith(ACCELERATOR_CLASS)) {
        found.add(entry);
      }
    }
    return found;
  }

  private static Optional<PciPath> locate(Path link) {
    Path device;
    try {
      device = link.toRealPath();
    } catch (IOException absent) {
      return Optional.empty();
    }
    return PciPath.of(device, number(read(device.resolve("numa_node"))));
  }

  /** What is in a folder; nothing if it cannot be read. */
  static List<Path> list(Path folder, String glob) {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, glob)) {
      entries.forEach(found::add);
    } catch (IOException | DirectoryIteratorException unreadable) {
      return List.of();
    }
    return found;
  }

  /** Whether a name may be that of a file, and not of one elsewhere. */
  static boolean isName(String name) {
    return !name.isEmpty() && !name.contains("/") && !name.startsWith(".");
  }

  /** A file's text; empty if it cannot be read. */
  static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException absent) {
      return "";
    }
  }

  private static int number(String text) {
    return text.matches("[0-9]{1,6}") ? Integer.parseInt(text) : -1;
  }
}
