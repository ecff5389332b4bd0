package org.jofi.doctor.machine;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jofi.rdma.topology.PciPath;

/**
 * A PCI function. Its path is read at once, everything else when it is asked for.
 *
 * <p>Any thread.
 */
public final class PciDevice {
  private static final int LARGEST_NODE = 1 << 20;

  private final MachineFiles files;
  private final String address;
  private final String folder;
  private final int numaNode;
  private final Optional<PciPath> path;

  PciDevice(MachineFiles files, String address) {
    this.files = files;
    this.address = address;
    this.folder = PciTree.DEVICES + "/" + address;
    this.numaNode = numaNode(files.read(folder + "/numa_node"));
    this.path =
        files
            .resolve(folder)
            .flatMap(real -> PciPath.of(real, numaNode))
            .filter(found -> found.steps().getLast().equals(address));
  }

  /** Its address, such as {@code 0000:ca:00.0}. */
  public String address() {
    return address;
  }

  /** Its folder on the machine. */
  public String folder() {
    return folder;
  }

  /** Its path from the host bridge; empty if sysfs does not show it. */
  public Optional<PciPath> path() {
    return path;
  }

  /** Base class, such as 0x03 for displays; -1 if unknown. */
  int baseClass() {
    long code = files.read(folder + "/class").number();
    return code < 0 || code > 0xff_ffff ? -1 : (int) (code >> 16);
  }

  /** The vendor's number, such as 0x10de; -1 if unknown. */
  long vendor() {
    return files.read(folder + "/vendor").number();
  }

  /** Vendor and device as lspci prints them, such as {@code 10de:20f1}. */
  String identity() {
    return hex4(vendor()) + ":" + hex4(files.read(folder + "/device").number());
  }

  private static String hex4(long value) {
    return value < 0 ? "?" : String.format(Locale.ROOT, "%04x", value);
  }

  /** Name of its driver; empty if none is bound. */
  public String driver() {
    return files.linkName(folder + "/driver");
  }

  private static int numaNode(Reading told) {
    long node = told.number();
    return node < 0 || node > LARGEST_NODE ? -1 : (int) node;
  }

  /** The NUMA node that it is close to; -1 if the firmware does not report it. */
  public int numaNode() {
    return numaNode;
  }

  /** The CPUs close to it, such as {@code 0-63,128-191}; empty if unknown. */
  public String localCpus() {
    String cpus = files.read(folder + "/local_cpulist").text();
    return cpus.matches("[0-9,-]{1,2000}") ? cpus : "";
  }

  /** The file that lists its memory windows. */
  public Reading windows() {
    return files.read(folder + "/resource");
  }

  /** Whether a memory window has a 64-bit address, and so takes the next register as well. */
  public boolean isWide(int bar) {
    String[] words = line(bar);
    // IORESOURCE_MEM_64 of linux/ioport.h; unassigned windows keep their flags.
    return words.length == 3 && (hex(words[2]) & 0x10_0000) != 0 && hex(words[2]) > 0;
  }

  /**
   * Size of one of its memory windows.
   *
   * @param bar 0 to 5
   * @return bytes; 0 if it has no address; -1 if unknown
   */
  public long barBytes(int bar) {
    String[] words = line(bar);
    if (words.length != 3) {
      return -1;
    }
    long start = hex(words[0]);
    long end = hex(words[1]);
    if (start == 0 && end == 0) {
      return 0;
    }
    return start < 0 || end < start || end == Long.MAX_VALUE ? -1 : end - start + 1;
  }

  private String[] line(int bar) {
    List<String> lines = windows().text().lines().toList();
    return bar < lines.size() ? lines.get(bar).strip().split("\\s+", -1) : new String[0];
  }

  private static long hex(String word) {
    return word.matches("0x0*[0-9a-f]{1,15}") ? Long.parseUnsignedLong(word.substring(2), 16) : -1;
  }

  /** Its configuration space. */
  public ConfigSpace config() {
    return new ConfigSpace(files.read(folder + "/config"));
  }

  /** Number of its IOMMU group; empty if it has none. */
  public String iommuGroup() {
    String group = files.linkName(folder + "/iommu_group");
    return group.matches("[0-9]{1,9}") ? group : "";
  }

  @Override
  public String toString() {
    return address;
  }
}
