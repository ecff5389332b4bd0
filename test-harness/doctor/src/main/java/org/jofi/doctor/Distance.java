package org.jofi.doctor;

import java.util.Optional;
import org.jofi.doctor.machine.PciDevice;
import org.jofi.rdma.topology.PciPath;

/** The distance between two PCI functions, nearest first, named as in nvidia-smi. */
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

  /** The symbol in the matrix. */
  public String symbol() {
    return symbol;
  }

  /** The explanation in the legend. */
  public String meaning() {
    return meaning;
  }

  /** Whether traffic stays below the host bridge. */
  public boolean peerToPeer() {
    return this == PIX || this == PXB;
  }

  /** How good the distance is for GPUDirect RDMA. */
  public String quality() {
    return switch (this) {
      case SELF, PIX, PXB -> "good";
      case PHB -> "usually good";
      case NODE, SYS -> "bad";
      case UNKNOWN -> "unknown";
    };
  }

  /** The distance between two devices, which may be on one function. */
  public static Distance between(PciDevice one, PciDevice other) {
    Optional<PciPath> first = one.path();
    Optional<PciPath> second = other.path();
    return first.isEmpty() || second.isEmpty() ? UNKNOWN : between(first.get(), second.get());
  }

  /** The distance between two PCI paths. */
  static Distance between(PciPath one, PciPath other) {
    int shared = one.sharedWith(other);
    if (shared == 0) {
      return one.numaNode() >= 0 && one.numaNode() == other.numaNode() ? NODE : SYS;
    }
    if (shared == 1) {
      return PHB;
    }
    // A switch has an upstream port, which both paths share, and a downstream port for each.
    int below = Math.max(one.steps().size(), other.steps().size()) - shared - 1;
    return below <= 1 ? PIX : PXB;
  }
}
