package org.jofi.transport;

import java.util.List;
import java.util.Optional;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.PciAddress;
import org.jofi.fabric.RegistrationScope;

/**
 * The properties of a device, which do not change. Any thread.
 *
 * <p>Only the transport implements it, so that it may get further methods.
 */
public interface DeviceProperties {

  /** {@return its index in {@link Transport#devices()}} */
  int index();

  /**
   * {@return the name of its first NIC and the number of its other NICs; and a number of its own if
   * {@link Grouping.Explicit} names that NIC first for several devices. No other device has it}
   */
  String name();

  /** {@return libfabric's name of the provider} */
  String provider();

  /** {@return the path of its first NIC below /sys/devices, if known} */
  Optional<String> pciPath();

  /**
   * {@return the speed, summed over its rails, in Mbit/s; 0 if unknown. Where there is no link,
   * what was measured of the provider}
   */
  long speedMegabitsPerSecond();

  /**
   * {@return half a round trip of a short message between two processes of one machine, as it was
   * measured of the provider, in nanoseconds; 0 if it was not}
   */
  long latencyNanos();

  /** {@return its NICs, in the order in which rails are numbered; 1 to 8} */
  List<Rail> rails();

  /** {@return how many of its rails also carry control messages: one, or all} */
  int controlRails();

  /** {@return what registrations belong to, the domain or one endpoint} */
  RegistrationScope registrationScope();

  /**
   * {@return the kinds of memory that can be registered, and how NICs access each; {@link
   * Registration#path} says it of one buffer}
   */
  List<MemoryPath> memory();

  /** {@return how immediate data is delivered, and why in this way: a sentence} */
  String immediateDelivery();

  /** {@return its limits} */
  DeviceLimits limits();

  /** {@return sentences that say why its NICs are one device} */
  List<String> groupingReasons();

  /**
   * Whether this kind of memory can be registered.
   *
   * @param kind where the memory lives
   * @return true if {@link #memory()} lists the kind, with direct access or without
   */
  default boolean takes(MemoryKind kind) {
    return memory().stream().anyMatch(path -> path.kind() == kind);
  }

  /**
   * One NIC of a device.
   *
   * @param nic its name
   * @param fabric the network that it is on: over IP, its subnet
   * @param address its address as text, over IP with port 0; empty if the provider tells none
   *     before an endpoint is open
   * @param pci its PCI address, if known
   * @param speedMegabitsPerSecond 0 if unknown
   */
  record Rail(
      String nic,
      String fabric,
      String address,
      Optional<PciAddress> pci,
      long speedMegabitsPerSecond) {}

  /**
   * How NICs access a kind of memory.
   *
   * @param kind where it lives
   * @param direct whether they access it themselves, without copies through other memory
   * @param path the same in words, such as {@code host}: for people, not for programs
   */
  record MemoryPath(MemoryKind kind, boolean direct, String path) {}
}
