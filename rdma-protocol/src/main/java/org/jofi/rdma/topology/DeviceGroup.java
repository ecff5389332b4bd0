package org.jofi.rdma.topology;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jofi.fabric.FabricInfo;

/**
 * NICs that make up one device.
 *
 * @param rails in the order that stripes are numbered in, 1 to 8
 * @param paths where each sits, if known; as many
 * @param reasons why these and no others, a sentence each
 * @param ordinal which of the devices that are named alike, from 1
 */
public record DeviceGroup(
    List<FabricInfo> rails, List<Optional<PciPath>> paths, List<String> reasons, int ordinal) {

  public DeviceGroup {
    rails = List.copyOf(rails);
    paths = List.copyOf(paths);
    reasons = List.copyOf(reasons);
    if (rails.isEmpty() || paths.size() != rails.size()) {
      throw new IllegalArgumentException(
          "a device of %d rails with %d paths".formatted(rails.size(), paths.size()));
    }
  }

  /** The same device with some of its rails alone, in that order. */
  public DeviceGroup over(List<Integer> some) {
    return new DeviceGroup(
        some.stream().map(rails::get).toList(),
        some.stream().map(paths::get).toList(),
        reasons,
        ordinal);
  }

  /** The name of its first NIC, and how many more there are; no other device has it. */
  public String name() {
    String nics = nics();
    return ordinal == 1 ? nics : "%s#%d".formatted(nics, ordinal);
  }

  private String nics() {
    String first = rails.getFirst().domainName();
    return rails.size() == 1 ? first : "%s+%d".formatted(first, rails.size() - 1);
  }

  /** Devices of which each has a name of its own. */
  static List<DeviceGroup> toldApart(List<DeviceGroup> devices) {
    Map<String, Integer> named = new HashMap<>();
    return devices.stream()
        .map(
            device ->
                new DeviceGroup(
                    device.rails,
                    device.paths,
                    device.reasons,
                    named.merge(device.nics(), 1, Integer::sum)))
        .toList();
  }

  /** Each rail's link speed in bits per second; 0 if unknown. */
  public long[] speeds() {
    return rails.stream().mapToLong(rail -> rail.nic().linkSpeedBitsPerSecond()).toArray();
  }
}
