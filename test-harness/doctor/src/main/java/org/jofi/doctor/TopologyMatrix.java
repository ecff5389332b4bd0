package org.jofi.doctor;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jofi.doctor.machine.Gpu;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.Nic;
import org.jofi.doctor.machine.PciDevice;

/**
 * The distances between all GPUs and RDMA NICs. Between GPUs it has the distance over PCIe, since
 * sysfs does not show NVLinks.
 */
public final class TopologyMatrix {
  private final Map<String, PciDevice> devices = new LinkedHashMap<>();
  private final Map<String, String> nicNames = new LinkedHashMap<>();

  TopologyMatrix(Machine machine) {
    for (Gpu gpu : machine.gpus()) {
      devices.put(gpu.name(), gpu.pci());
    }
    for (Nic nic : machine.rdmaNics()) {
      nic.pci()
          .ifPresent(
              pci -> {
                String column = "NIC" + nicNames.size();
                nicNames.put(column, nic.name());
                devices.put(column, pci);
              });
    }
  }

  /** Whether there is nothing to draw. */
  public boolean empty() {
    return devices.isEmpty();
  }

  /** The short names of NICs, such as {@code NIC0} for {@code mlx5_0}. */
  public Map<String, String> nicNames() {
    return Collections.unmodifiableMap(nicNames);
  }

  /** The first row: an empty corner, the devices, and two columns for CPUs and NUMA node. */
  public List<String> header() {
    List<String> header = new ArrayList<>();
    header.add("");
    header.addAll(devices.keySet());
    header.add("CPU Affinity");
    header.add("NUMA Affinity");
    return header;
  }

  /** One row per device, with as many cells as the header. */
  public List<List<String>> rows() {
    List<List<String>> rows = new ArrayList<>();
    devices.forEach(
        (name, device) -> {
          List<String> row = new ArrayList<>();
          row.add(name);
          devices.keySet().forEach(other -> row.add(distance(name, other).symbol()));
          boolean gpu = !nicNames.containsKey(name);
          row.add(gpu ? orNotKnown(device.localCpus()) : "");
          row.add(gpu ? numa(device) : "");
          rows.add(row);
        });
    return rows;
  }

  private static String numa(PciDevice device) {
    return device.numaNode() < 0 ? "N/A" : String.valueOf(device.numaNode());
  }

  private static String orNotKnown(String text) {
    return text.isEmpty() ? "N/A" : text;
  }

  /** The distances that occur in it, nearest first. */
  public Set<Distance> occurring() {
    Set<Distance> found = EnumSet.noneOf(Distance.class);
    for (String one : devices.keySet()) {
      for (String other : devices.keySet()) {
        found.add(distance(one, other));
      }
    }
    return found;
  }

  private Distance distance(String one, String other) {
    return one.equals(other)
        ? Distance.SELF
        : Distance.between(
            Objects.requireNonNull(devices.get(one)), Objects.requireNonNull(devices.get(other)));
  }
}
