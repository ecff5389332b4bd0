package org.jofi.doctor.machine;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jofi.rdma.topology.PciPath;

/** All PCI functions of a machine, in the order of their addresses. Any thread. */
public final class PciTree {
  static final String DEVICES = "/sys/bus/pci/devices";

  private static final Pattern ADDRESS =
      Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");

  private final MachineFiles files;
  private final Map<String, PciDevice> devices = new TreeMap<>();

  PciTree(MachineFiles files) {
    this.files = files;
    files.list(DEVICES).stream()
        .filter(name -> ADDRESS.matcher(name).matches())
        .forEach(name -> devices.put(name, new PciDevice(files, name)));
  }

  public Collection<PciDevice> devices() {
    return devices.values();
  }

  /** The function with that address. */
  public Optional<PciDevice> device(String address) {
    return Optional.ofNullable(devices.get(address));
  }

  /**
   * The function that a device of another kind belongs to. Drivers put their devices directly below
   * the function or, as virtio does, below a device of their own.
   */
  Optional<PciDevice> functionOf(String path) {
    return files
        .resolve(path)
        .flatMap(real -> PciPath.of(real, -1))
        .flatMap(found -> device(found.steps().getLast()));
  }

  /** The bridges below the host bridges through which traffic between two functions goes. */
  public Set<PciDevice> bridgesBetween(PciPath one, PciPath other) {
    int shared = one.sharedWith(other);
    Set<PciDevice> bridges = new LinkedHashSet<>();
    for (PciPath path : List.of(one, other)) {
      for (int step = Math.max(shared - 1, 1); step < path.steps().size() - 1; step++) {
        device(path.steps().get(step)).ifPresent(bridges::add);
      }
    }
    return bridges;
  }
}
