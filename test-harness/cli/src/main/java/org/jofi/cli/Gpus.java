package org.jofi.cli;

import java.util.Optional;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.MemoryKind;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/** The GPUs of this machine. Commands open one here, or learn why it cannot be used. */
final class Gpus {
  private final Optional<DeviceMemoryProvider> provider;

  /**
   * @param provider the provider of device memory, if there is one
   */
  Gpus(Optional<DeviceMemoryProvider> provider) {
    this.provider = provider;
  }

  /** The GPUs of this machine. Loads no driver yet. */
  static Gpus ofThisMachine() {
    return new Gpus(DeviceMemoryProvider.of(MemoryKind.CUDA));
  }

  /** Why there are no GPUs, and what to do; empty if there are some. */
  String obstacle() {
    if (provider.isEmpty()) {
      return "the jofi-cuda jar is not on the module path";
    }
    DeviceProbe probe = provider.get().probe();
    return probe.isUsable()
        ? ""
        : "there is no GPU: %s. %s".formatted(probe.obstacle(), probe.remedy());
  }

  /** Why there is no GPU with this number; empty if there is one. */
  String obstacle(int gpu) {
    String none = obstacle();
    if (!none.isEmpty()) {
      return none;
    }
    int count = count();
    return gpu < count
        ? ""
        : "there is no GPU %d: there are %d, numbered from 0".formatted(gpu, count);
  }

  /** Why memory of this GPU cannot be registered with a device; empty if it can. */
  String obstacle(int gpu, Device device) {
    String none = obstacle(gpu);
    return !none.isEmpty() || device.properties().takes(MemoryKind.CUDA)
        ? none
        : "%s takes no GPU memory (no FI_HMEM)".formatted(device.properties().provider());
  }

  /**
   * The number of GPUs.
   *
   * @throws TransportException with {@link FailureCause#UNAVAILABLE}, and what to do, if there are
   *     none
   */
  int count() {
    require(obstacle());
    return provider.orElseThrow().probe().devices().size();
  }

  /**
   * Opens a GPU, which the caller closes.
   *
   * @throws TransportException with {@link FailureCause#UNAVAILABLE}, and what to do, if there is
   *     none with this number
   */
  DeviceMemory open(int gpu) {
    require(obstacle(gpu));
    return provider.orElseThrow().open(gpu);
  }

  /** Throws unless the obstacle is empty. */
  static void require(String obstacle) {
    if (!obstacle.isEmpty()) {
      throw new TransportException(FailureCause.UNAVAILABLE, obstacle);
    }
  }
}
