package org.jofi.doctor.machine;

import java.util.ArrayList;
import java.util.List;

/**
 * PCI Express Access Control Services of a bridge port: capability 0x000d of the PCI Express Base
 * Specification.
 *
 * @param capability what the port supports
 * @param control what is switched on
 */
public record AccessControl(int capability, int control) {
  private static final List<String> NAMES =
      List.of(
          "SrcValid",
          "TransBlk",
          "ReqRedir",
          "CmpltRedir",
          "UpstreamFwd",
          "EgressCtrl",
          "DirectTrans");

  /** The bits for request redirect, completion redirect, upstream forwarding and egress control. */
  private static final int TURNS_PEERS_AWAY = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5;

  /** Whether it sends traffic between peers up to the root complex, or blocks it. */
  public boolean turnsPeersAway() {
    return (control & TURNS_PEERS_AWAY) != 0;
  }

  /** What is switched on, with lspci's names. */
  public List<String> enabled() {
    List<String> enabled = new ArrayList<>();
    for (int bit = 0; bit < NAMES.size(); bit++) {
      if ((control & 1 << bit) != 0) {
        enabled.add(NAMES.get(bit) + "+");
      }
    }
    return enabled;
  }
}
