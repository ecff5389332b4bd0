package org.jofi.doctor;

import java.util.Optional;
import org.jofi.doctor.machine.PciDevice;
import org.jofi.rdma.topology.PciPath;

/** How far two PCI functions are from each other, nearest first, in nvidia-smi's words. */
public enum Distance {
  SELF("X", "the device itself"),
  PIX("PIX", "one PCIe bridge at most, such as one switch"),
  PXB("PXB", "several PCIe bridges, all below the host bridge"),
  PHB("PHB", "through a PCIe host bridge: the processor"),
  NODE("NODE", "through several host bridges of one NUMA node"),
  SYS("SYS", "between NUMA nodes, or between host bridges whose NUMA node firmware does not tell"),
  UNKNOWN("?", "sysfs does not tell where one of them sits");

  private final String symbol;
  private final String meaning;

  Distance(String symbol, String meaning) {
    this.symbol = symbol;
    this.meaning = meaning;
  }

  /** As in the matrix. */
  public String symbol() {
    return symbol;
  }

  /** As in the legend. */
  public String meaning() {
    return meaning;
  }

  /** Whether traffic stays below the host bridge. */
  public boolean peerToPeer() {
    return this == PIX || this == PXB;
  }

  /** What GPUDirect RDMA makes of it. */
  public String quality() {
    return switch (this) {
      case SELF, PIX, PXB -> "good";
      case PHB -> "usually good";
      case NODE, SYS -> "bad";
      case UNKNOWN -> "unknown";
    };
  }

  /** Between two devices, which may be on one function. */
  public static Distance between(PciDevice one, PciDevice other) {
    Optional<PciPath> first = one.path();
    Optional<PciPath> second = other.path();
    return first.isEmpty() || second.isEmpty() ? UNKNOWN : between(first.get(), second.get());
  }

  /** Between two places. */
  static Distance between(PciPath one, PciPath other) {
    int shared = one.sharedWith(other);
    if (shared == 0) {
      return one.numaNode() >= 0 && one.numaNode() == other.numaNode() ? NODE : SYS;
    }
    if (shared == 1) {
      return PHB;
    }
    // A switch is an upstream port, which is shared, and one downstream port for each of the two.
    int below = Math.max(one.steps().size(), other.steps().size()) - shared - 1;
    return below <= 1 ? PIX : PXB;
  }
}
