package org.jofi.fabric;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The result of looking for devices of one kind.
 *
 * @param kind what was looked for
 * @param driver the driver and its version, such as {@code CUDA driver API 13.0}; empty if none
 *     could be loaded
 * @param devices the devices, by ordinal; empty if there are none that can be used
 * @param obstacle a sentence that says why there are no devices; empty if there are some
 * @param remedy what to do about it; empty if there are devices
 */
public record DeviceProbe(
    MemoryKind kind, String driver, List<Device> devices, String obstacle, String remedy) {

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if there are both devices and an obstacle, or neither
   */
  public DeviceProbe {
    Objects.requireNonNull(kind);
    Objects.requireNonNull(driver);
    Objects.requireNonNull(remedy);
    devices = List.copyOf(devices);
    if (devices.isEmpty() == obstacle.isEmpty()) {
      throw new IllegalArgumentException(
          "a probe has either devices or an obstacle; it has %s and '%s'"
              .formatted(devices, obstacle));
    }
  }

  /** {@return whether there is a device to use} */
  public boolean isUsable() {
    return !devices.isEmpty();
  }

  /**
   * One device.
   *
   * @param ordinal its number in the driver, from 0
   * @param name the vendor's name for it
   * @param pci its PCI address, if the driver reports it
   * @param memoryBytes how much memory it has
   * @param capability its compute capability, such as {@code 9.0}
   * @param gpuDirect whether the driver says that NICs can access its memory
   * @param dmaBuf whether its memory can be exported as a dma-buf
   * @param flush how its driver can make a NIC's writes visible
   * @param ordering which devices see the writes of NICs in order without a flush
   */
  public record Device(
      int ordinal,
      String name,
      Optional<PciAddress> pci,
      long memoryBytes,
      String capability,
      boolean gpuDirect,
      boolean dmaBuf,
      FlushCall flush,
      WriteOrdering ordering) {}

  /** How a driver can make the writes of NICs visible to its device. */
  public enum FlushCall {
    /** It cannot: the flush has to be a read through the NIC. */
    NONE,
    /** With a call from the host: {@link DeviceMemory#flushRemoteWrites}. */
    HOST,
    /** With operations on a stream of the device only. */
    STREAM
  }

  /** Which devices see the writes of NICs in order without a flush. */
  public enum WriteOrdering {
    /** None: a flush is needed before the device reads. */
    NONE,
    /** The device that owns the memory. */
    OWNER,
    /** All devices. */
    ALL
  }
}
