package org.jofi.fabric;

import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;

/**
 * Gives access to one kind of device memory. A service, found by {@link ServiceLoader}. Any thread.
 *
 * <p>Finding a provider loads no driver; only {@link #probe} and {@link #open} do.
 */
public interface DeviceMemoryProvider {

  /** {@return the kind of memory; never {@link MemoryKind#HOST}} */
  MemoryKind kind();

  /**
   * Looks for the driver and its devices. If there is none, or this user may not use them, the
   * result says so; no exception is thrown.
   *
   * @return the devices, or why there are none and what to do about it
   */
  DeviceProbe probe();

  /**
   * Opens a device for use. The caller closes it.
   *
   * @param device its ordinal, as in the result of {@link #probe}
   * @return the memory of the device
   * @throws FabricUnavailableException if there is no such device or no driver; the message says
   *     what to do
   */
  DeviceMemory open(int device);

  /**
   * {@return the modules that call native code for it} The JVM has to allow it to them: {@code
   * --enable-native-access}.
   */
  default Set<Module> nativeModules() {
    return Set.of();
  }

  /** {@return the providers on the module path or class path, in no particular order} */
  static List<DeviceMemoryProvider> installed() {
    return ServiceLoader.load(
            DeviceMemoryProvider.class, DeviceMemoryProvider.class.getClassLoader())
        .stream()
        .map(ServiceLoader.Provider::get)
        .toList();
  }

  /**
   * {@return the installed provider for this kind of memory, if there is one}
   *
   * @param kind which memory; there is none for {@link MemoryKind#HOST}
   */
  static Optional<DeviceMemoryProvider> of(MemoryKind kind) {
    return installed().stream().filter(provider -> provider.kind() == kind).findFirst();
  }
}
