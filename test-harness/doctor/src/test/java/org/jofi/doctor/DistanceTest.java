package org.jofi.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.jofi.rdma.topology.PciPath;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How far devices are from each other, by where they hang. */
class DistanceTest {

  private static PciPath path(String steps, int numaNode) {
    return new PciPath(List.of(steps.split("/")), numaNode);
  }

  @ParameterizedTest
  @CsvSource({
    // Two functions of one card, below a root port and on the root bus.
    "pci0:0/rp/a.0, 0, pci0:0/rp/a.1, 0, PIX",
    // One switch: an upstream port and two downstream ports.
    "pci0:0/rp/up/down0/a, 0, pci0:0/rp/up/down1/b, 0, PIX",
    // A NIC that is itself part of the switch.
    "pci0:0/rp/up/a, 0, pci0:0/rp/up/down1/b, 0, PIX",
    // A second switch below a downstream port of the first.
    "pci0:0/rp/up/down0/a, 0, pci0:0/rp/up/down1/up/down/b, 0, PXB",
    "pci0:0/rp/up/down1/up/down/b, 0, pci0:0/rp/up/down0/a, 0, PXB",
    // A bridge behind a switch, and two switches that are functions of one card.
    "pci0:0/rp/up/down0/bridge/a, 0, pci0:0/rp/up/down1/b, 0, PXB",
    "pci0:0/rp/up0/down/a, 0, pci0:0/rp/up1/down/b, 0, PXB",
    // Two root ports of one host bridge.
    "pci0:0/rp0/a, 0, pci0:0/rp1/b, 0, PHB",
    "pci0:0/a, -1, pci0:0/b, -1, PHB",
    "pci0:0/rp0/up/down/a, 0, pci0:0/rp1/up/down/b, 0, PHB",
    // Different host bridges.
    "pci0:0/rp/a, 0, pci0:1/rp/b, 0, NODE",
    "pci0:0/rp/a, 0, pci0:1/rp/b, 1, SYS",
    "pci0:0/rp/a, -1, pci0:1/rp/b, -1, SYS",
    "pci0:0/rp/a, 0, pci0:1/rp/b, -1, SYS"
  })
  void isTheLongestStretchOfThePath(
      String one, int oneNode, String other, int otherNode, Distance expected) {
    assertEquals(expected, Distance.between(path(one, oneNode), path(other, otherNode)));
    assertEquals(expected, Distance.between(path(other, otherNode), path(one, oneNode)));
  }
}
