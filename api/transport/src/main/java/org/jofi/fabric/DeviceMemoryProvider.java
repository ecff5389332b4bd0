package org.jofi.fabric;

import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * Drives one kind of device memory: a service, found by {@link ServiceLoader}. Any thread.
 *
 * <p>To find it loads no driver. Only {@link #probe} and {@link #open} do.
 */
public interface DeviceMemoryProvider {

  /** The kind of memory that it drives; not {@link MemoryKind#HOST}. */
  MemoryKind kind();

  /**
   * Looks for the driver and its devices. That there is none, or that this user may not use them,
   * is an answer and no exception.
   */
  DeviceProbe probe();

  /**
   * Opens a device for use. The caller closes it.
   *
   * @param device its ordinal, as {@link #probe} lists it
   * @throws FabricUnavailableException if there is no such device or no driver, with what helps
   */
  DeviceMemory open(int device);

  /** Those that this program was started with, in no particular order. */
  static List<DeviceMemoryProvider> installed() {
    return ServiceLoader.load(
            DeviceMemoryProvider.class, DeviceMemoryProvider.class.getClassLoader())
        .stream()
        .map(ServiceLoader.Provider::get)
        .toList();
  }

  /** The installed one for that kind of memory, if there is one. */
  static Optional<DeviceMemoryProvider> of(MemoryKind kind) {
    return installed().stream().filter(provider -> provider.kind() == kind).findFirst();
  }
}
