package org.jofi.doctor;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jofi.doctor.machine.AccessControl;
import org.jofi.doctor.machine.ConfigSpace;
import org.jofi.doctor.machine.Gpu;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.Nic;
import org.jofi.doctor.machine.PciDevice;
import org.jofi.rdma.topology.PciPath;

/**
 * Checks whether PCIe Access Control Services on any bridge divert traffic between a GPU and a NIC
 * from its shortest path.
 */
final class AccessControlCheck implements Check {
  private static final String NAME = "acs";
  private static final List<String> READ = List.of("/sys/bus/pci/devices/*/config");

  @Override
  public List<Finding> examine(Patient patient) {
    Machine machine = patient.machine();
    Map<PciDevice, Boolean> bridges = bridges(machine);
    return List.of(
        bridges.isEmpty()
            ? Finding.skip(NAME, "", "no bridge lies between a GPU and an RDMA NIC", READ)
            : finding(bridges));
  }

  /**
   * The bridges on all paths, and for each whether one of its paths should stay below the host
   * bridge.
   */
  private static Map<PciDevice, Boolean> bridges(Machine machine) {
    Map<PciDevice, Boolean> bridges = new LinkedHashMap<>();
    for (Gpu gpu : machine.gpus()) {
      for (Nic nic : machine.rdmaNics()) {
        Optional<PciPath> from = gpu.pci().path();
        Optional<PciPath> to = nic.pci().flatMap(PciDevice::path);
        if (from.isPresent() && to.isPresent()) {
          boolean peers = Distance.between(from.get(), to.get()).peerToPeer();
          machine
              .pci()
              .bridgesBetween(from.get(), to.get())
              .forEach(bridge -> bridges.merge(bridge, peers, Boolean::logicalOr));
        }
      }
    }
    return bridges;
  }

  private static Finding finding(Map<PciDevice, Boolean> bridges) {
    Map<PciDevice, AccessControl> turning = new LinkedHashMap<>();
    Map<PciDevice, String> unseen = new LinkedHashMap<>();
    for (PciDevice bridge : bridges.keySet()) {
      ConfigSpace config = bridge.config();
      config
          .accessControl()
          .filter(AccessControl::turnsPeersAway)
          .ifPresent(services -> turning.put(bridge, services));
      unseen(config).ifPresent(why -> unseen.put(bridge, why));
    }
    if (!turning.isEmpty()) {
      return turning(turning, turning.keySet().stream().anyMatch(bridges::get));
    }
    if (!unseen.isEmpty()) {
      return Finding.warn(
          NAME,
          "",
          "not known of "
              + unseen.entrySet().stream()
                  .map(bridge -> bridge.getKey() + " (" + bridge.getValue() + ")")
                  .collect(Collectors.joining(", ")),
          READ,
          "sudo ./jofi doctor; or sudo lspci -vvv | grep -e ^[0-9a-f] -e ACSCtl");
    }
    return Finding.pass(
        NAME,
        "",
        "off on all %d bridges between GPUs and RDMA NICs".formatted(bridges.size()),
        READ);
  }

  private static Finding turning(Map<PciDevice, AccessControl> bridges, boolean peers) {
    String which =
        bridges.entrySet().stream()
            .map(
                bridge ->
                    bridge.getKey() + " (" + String.join(" ", bridge.getValue().enabled()) + ")")
            .collect(Collectors.joining(", "));
    String remedy =
        bridges.keySet().stream()
            .map(bridge -> "sudo setpci -s %s ECAP_ACS+6.w=0000".formatted(bridge))
            .collect(Collectors.joining("; "));
    List<String> read =
        bridges.keySet().stream().map(bridge -> bridge.folder() + "/config").toList();
    return peers
        ? Finding.fail(
            NAME,
            "",
            "on: "
                + which
                + ": traffic between GPU and NIC goes up to the root complex in place of straight"
                + " through the switch, slowly or not at all",
            read,
            remedy)
        : Finding.warn(
            NAME,
            "",
            "on: "
                + which
                + ": no GPU and NIC share a switch there, but each packet is checked on its way"
                + " through the root complex",
            read,
            remedy);
  }

  private static Optional<String> unseen(ConfigSpace config) {
    return switch (config.extent()) {
      case EXTENDED -> Optional.empty();
      case PUBLIC -> Optional.of("only root may read beyond 64 bytes");
      case CONVENTIONAL -> Optional.of("its extended part is not reachable");
      case SILENT -> Optional.of("it does not answer");
      case MALFORMED -> Optional.of("its list of capabilities does not end");
      case UNREADABLE -> {
        String trouble = config.reading().trouble();
        yield Optional.of(trouble.isEmpty() ? "its config file is empty" : trouble);
      }
    };
  }
}
