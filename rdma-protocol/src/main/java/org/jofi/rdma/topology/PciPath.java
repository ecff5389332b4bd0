package org.jofi.rdma.topology;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jofi.fabric.PciAddress;

/**
 * Where a PCI device hangs: the names of the host bridge, the bridges below it and the device, as
 * folders of /sys/devices, such as {@code pci0000:00/0000:00:01.0/0000:01:00.0}.
 *
 * @param steps the names, host bridge first; 2 or more
 * @param numaNode the processor that it is close to; -1 if unknown
 */
public record PciPath(List<String> steps, int numaNode) {
  public PciPath {
    steps = List.copyOf(steps);
    if (steps.size() < 2) {
      throw new IllegalArgumentException("no PCI path: " + steps);
    }
  }

  /**
   * Reads the steps off a device's folder.
   *
   * @param device its folder below /sys/devices, with no links on the way
   * @param numaNode the processor that it is close to; -1 if unknown
   * @return empty if no PCI device is below a host bridge there
   */
  public static Optional<PciPath> of(Path device, int numaNode) {
    List<String> steps = new ArrayList<>();
    for (Path step : device) {
      String name = step.toString();
      if (name.startsWith("pci") && name.contains(":")) {
        // Below a second host bridge, such as one of a VMD, the outer one does not matter.
        steps.clear();
        steps.add(name);
      } else if (!steps.isEmpty() && isPciAddress(name)) {
        steps.add(name);
      }
    }
    return steps.size() < 2 ? Optional.empty() : Optional.of(new PciPath(steps, numaNode));
  }

  private static boolean isPciAddress(String name) {
    return name.matches("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  }

  /** How many steps two devices share from the host bridge on; 0 under different ones. */
  public int sharedWith(PciPath other) {
    int shared = 0;
    while (shared < steps.size()
        && shared < other.steps.size()
        && steps.get(shared).equals(other.steps.get(shared))) {
      shared++;
    }
    return shared;
  }

  String device() {
    return steps.getLast();
  }

  /** The device's address. */
  public PciAddress address() {
    String[] parts = device().split("[:.]", -1);
    return new PciAddress(
        Integer.parseInt(parts[0], 16),
        Integer.parseInt(parts[1], 16),
        Integer.parseInt(parts[2], 16),
        Integer.parseInt(parts[3], 16));
  }

  String to(int depth) {
    return String.join("/", steps.subList(0, depth));
  }

  /** The path in /sys/devices. */
  @Override
  public String toString() {
    return to(steps.size());
  }
}
