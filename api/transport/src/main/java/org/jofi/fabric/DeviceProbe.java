package org.jofi.fabric;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What looking for devices of a kind found.
 *
 * @param kind what was looked for
 * @param driver the driver and its version, such as {@code CUDA driver API 13.0}; empty if none
 *     could be loaded
 * @param devices the devices, by ordinal; empty if there are none that can be used
 * @param obstacle why there are none, in a sentence; empty if there are some
 * @param remedy what to do about it; empty if there are some
 */
public record DeviceProbe(
    MemoryKind kind, String driver, List<Device> devices, String obstacle, String remedy) {

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

  /** Whether there is a device to use. */
  public boolean isUsable() {
    return !devices.isEmpty();
  }

  /**
   * One device.
   *
   * @param ordinal its number for the driver, from 0
   * @param name as its vendor calls it
   * @param pci where it sits, if the driver tells
   * @param memoryBytes how much memory it has
   * @param capability its generation, such as {@code 9.0}
   * @param gpuDirect whether the driver says that NICs may reach its memory
   * @param dmaBuf whether its memory can be exported as a dma-buf
   * @param flush how its driver can make a NIC's writes visible
   * @param ordering whom writes of NICs are in order for without a flush
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

  /** How a driver can make what NICs wrote visible to its device. */
  public enum FlushCall {
    /** Not at all: read through the NIC instead. */
    NONE,
    /** With a call of the host: {@link DeviceMemory#flushRemoteWrites}. */
    HOST,
    /** With operations on a stream of the device only. */
    STREAM
  }

  /** Whom the writes of NICs are visible to in order, without a flush. */
  public enum WriteOrdering {
    /** Nobody: a flush is needed before the device reads. */
    NONE,
    /** The device that owns the memory. */
    OWNER,
    /** All devices. */
    ALL
  }
}
