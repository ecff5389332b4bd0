package org.jofi.cli;

import java.util.Optional;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.MemoryKind;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/** The GPUs of this machine, for commands: opens one, or says why it cannot be used. */
final class Gpus {
  private final Optional<DeviceMemoryProvider> provider;

  /**
   * @param provider what drives them, if that is there
   */
  Gpus(Optional<DeviceMemoryProvider> provider) {
    this.provider = provider;
  }

  /** Those of this machine; loads no driver yet. */
  static Gpus ofThisMachine() {
    return new Gpus(DeviceMemoryProvider.of(MemoryKind.CUDA));
  }

  /** Why there are none at all, with what helps; empty if there are some. */
  String obstacle() {
    if (provider.isEmpty()) {
      return "the jofi-cuda jar is not on the module path";
    }
    DeviceProbe probe = provider.get().probe();
    return probe.isUsable()
        ? ""
        : "there is no GPU: %s. %s".formatted(probe.obstacle(), probe.remedy());
  }

  /** Why there is none of that number; empty if there is. */
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

  /** Why memory of that one cannot be registered with a device; empty if it can. */
  String obstacle(int gpu, Device device) {
    String none = obstacle(gpu);
    return !none.isEmpty() || device.properties().takes(MemoryKind.CUDA)
        ? none
        : "%s takes no GPU memory (no FI_HMEM)".formatted(device.properties().provider());
  }

  /**
   * How many there are.
   *
   * @throws TransportException with {@link FailureCause#UNAVAILABLE}, and what helps, if there are
   *     none
   */
  int count() {
    require(obstacle());
    return provider.orElseThrow().probe().devices().size();
  }

  /**
   * Opens one, which the caller closes.
   *
   * @throws TransportException with {@link FailureCause#UNAVAILABLE}, and what helps, if there is
   *     none of that number
   */
  DeviceMemory open(int gpu) {
    require(obstacle(gpu));
    return provider.orElseThrow().open(gpu);
  }

  /** Goes on only if there is no obstacle. */
  static void require(String obstacle) {
    if (!obstacle.isEmpty()) {
      throw new TransportException(FailureCause.UNAVAILABLE, obstacle);
    }
  }
}
