package org.jofi.transport;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.PciAddress;
import org.jofi.fabric.RegistrationScope;

/**
 * What a device is.
 *
 * @param index its place in {@link Transport#devices()}
 * @param name of its first NIC, and how many more; unique within the transport
 * @param provider as libfabric names it
 * @param pciPath path of its first NIC below /sys/devices, if known
 * @param speedMegabitsPerSecond sum over its rails; 0 if unknown
 * @param rails its NICs, in the order that stripes are numbered in; 1 to 8
 * @param controlRails how many of them also carry control messages
 * @param registrationScope what registrations belong to
 * @param memory kinds of memory that can be registered, and how each is reached, such as {@code GPU
 *     direct via dma-buf}
 * @param immediateDelivery how immediate data travels, and why so
 * @param limits what it takes
 * @param groupingReasons why its NICs are one device, a sentence each
 */
public record DeviceProperties(
    int index,
    String name,
    String provider,
    Optional<String> pciPath,
    long speedMegabitsPerSecond,
    List<Rail> rails,
    int controlRails,
    RegistrationScope registrationScope,
    List<MemoryPath> memory,
    String immediateDelivery,
    DeviceLimits limits,
    List<String> groupingReasons) {

  public DeviceProperties {
    Objects.requireNonNull(name);
    Objects.requireNonNull(limits);
    rails = List.copyOf(rails);
    memory = List.copyOf(memory);
    groupingReasons = List.copyOf(groupingReasons);
    if (rails.isEmpty()) {
      throw new IllegalArgumentException("device %s has no rails".formatted(name));
    }
    if (controlRails != 1 && controlRails != rails.size()) {
      throw new IllegalArgumentException(
          "device %s of %d rails cannot have %d control rails"
              .formatted(name, rails.size(), controlRails));
    }
  }

  /** Whether memory of that kind can be registered. */
  public boolean takes(MemoryKind kind) {
    return memory.stream().anyMatch(path -> path.kind() == kind);
  }

  /**
   * One NIC of a device.
   *
   * @param nic its name
   * @param fabric the network that it is on
   * @param pci where it sits, if known
   * @param speedMegabitsPerSecond 0 if unknown
   */
  public record Rail(
      String nic, String fabric, Optional<PciAddress> pci, long speedMegabitsPerSecond) {}

  /**
   * How memory of a kind is reached.
   *
   * @param kind where it lives
   * @param path in words, such as {@code host}
   */
  public record MemoryPath(MemoryKind kind, String path) {}
}
