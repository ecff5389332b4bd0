package org.jofi.transport;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.PciAddress;
import org.jofi.fabric.RegistrationScope;

/**
 * The properties of a device.
 *
 * @param index its index in {@link Transport#devices()}
 * @param name of its first NIC and the number of its other NICs; unique within the transport
 * @param provider libfabric's name of the provider
 * @param pciPath path of its first NIC below /sys/devices, if known
 * @param speedMegabitsPerSecond sum over its rails; 0 if unknown
 * @param rails its NICs, in the order that stripes are numbered in; 1 to 8
 * @param controlRails how many of them also carry control messages
 * @param registrationScope what registrations belong to, the domain or one endpoint
 * @param memory kinds of memory that can be registered, and how NICs access each, such as {@code
 *     GPU direct via dma-buf}
 * @param immediateDelivery how immediate data is delivered, and why in this way
 * @param limits its limits
 * @param groupingReasons sentences that say why its NICs are one device
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

  /** Whether this kind of memory can be registered. */
  public boolean takes(MemoryKind kind) {
    return memory.stream().anyMatch(path -> path.kind() == kind);
  }

  /**
   * One NIC of a device.
   *
   * @param nic its name
   * @param fabric the network that it is on
   * @param pci its PCI address, if known
   * @param speedMegabitsPerSecond 0 if unknown
   */
  public record Rail(
      String nic, String fabric, Optional<PciAddress> pci, long speedMegabitsPerSecond) {}

  /**
   * How NICs access a kind of memory.
   *
   * @param kind where it lives
   * @param direct whether they access it themselves, without copies through other memory
   * @param path the same in words, such as {@code host}: for people, not for programs
   */
  public record MemoryPath(MemoryKind kind, boolean direct, String path) {}
}
