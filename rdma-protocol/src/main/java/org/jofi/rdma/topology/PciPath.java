package org.jofi.rdma.topology;

import java.util.List;

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

  /** How many steps two devices share from the host bridge on; 0 under different ones. */
  int sharedWith(PciPath other) {
    int shared = 0;
    while (shared < steps.size()
        && shared < other.steps.size()
        && steps.get(shared).equals(other.steps.get(shared))) {
      shared++;
    }
    return shared;
  }

  /** The device's own name. */
  String device() {
    return steps.getLast();
  }

  /** The path down to so many steps. */
  String to(int depth) {
    return String.join("/", steps.subList(0, depth));
  }

  /** The path in /sys/devices. */
  @Override
  public String toString() {
    return to(steps.size());
  }
}
