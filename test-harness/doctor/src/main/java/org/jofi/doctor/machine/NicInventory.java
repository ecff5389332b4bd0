package org.jofi.doctor.machine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Finds NICs: first those for RDMA, in the order of their names, then all others on PCI. */
final class NicInventory {
  private static final int NETWORK = 0x02;
  private static final List<String> RDMA_CLASSES = List.of("infiniband", "cxi");
  private static final Pattern NUMBER = Pattern.compile("[0-9]+");

  private final MachineFiles files;
  private final PciTree tree;
  private final Map<String, List<NetInterface>> interfaces;
  private final Set<String> seen = new HashSet<>();

  NicInventory(MachineFiles files, PciTree tree) {
    this.files = files;
    this.tree = tree;
    this.interfaces = NetInterface.byFunction(files, tree);
  }

  List<Nic> nics() {
    List<Nic> nics = new ArrayList<>();
    for (String kind : RDMA_CLASSES) {
      String folder = "/sys/class/" + kind;
      files.list(folder).stream()
          .sorted(Comparator.comparing(NicInventory::padded))
          .map(name -> rdma(folder + "/" + name, name))
          .forEach(nics::add);
    }
    tree.devices().stream()
        .filter(device -> device.baseClass() == NETWORK && !seen.contains(device.address()))
        .map(this::plain)
        .forEach(nics::add);
    return nics;
  }

  private Nic rdma(String folder, String name) {
    Optional<PciDevice> pci = tree.functionOf(folder);
    pci.ifPresent(device -> seen.add(device.address()));
    return new Nic(
        Reading.printable(name),
        Reading.printable(folder),
        true,
        pci,
        Nic.shortLine(files.read(folder + "/fw_ver")),
        pci.map(this::interfaces).orElse(List.of()),
        RdmaPort.below(files, folder));
  }

  private Nic plain(PciDevice device) {
    List<NetInterface> interfaces = interfaces(device);
    String name = interfaces.isEmpty() ? device.address() : interfaces.getFirst().name();
    return new Nic(name, device.folder(), false, Optional.of(device), "", interfaces, List.of());
  }

  private List<NetInterface> interfaces(PciDevice device) {
    return interfaces.getOrDefault(device.address(), List.of());
  }

  /** The name with its numbers padded to the same length, so that mlx5_10 comes after mlx5_2. */
  private static String padded(String name) {
    return NUMBER.matcher(name).replaceAll((MatchResult digits) -> pad(digits.group()));
  }

  private static String pad(String digits) {
    return "0".repeat(Math.max(0, 10 - digits.length())) + digits;
  }
}
