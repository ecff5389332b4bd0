package org.jofi.collectives;

import org.jofi.fabric.DeviceMemory;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/** The GPU of a group, from the first operation on a GPU's memory on. For one thread. */
final class GroupGpu {
  private final Routes routes;
  private final @Nullable DeviceMemory given;
  private @Nullable Gpu gpu;

  /**
   * @param routes whose devices have to take its memory
   * @param given what the caller opened; null to open the GPU of the first operation
   */
  GroupGpu(Routes routes, @Nullable DeviceMemory given) {
    this.routes = routes;
    this.given = given;
  }

  /**
   * The GPU of an operation; null if it is on host memory.
   *
   * @throws IllegalArgumentException if it is another GPU's than that of operations before
   * @throws TransportException if there is none, or a device takes no memory of it
   */
  @Nullable Gpu of(Operand input, Operand output) {
    if (!input.isOnGpu()) {
      return null;
    }
    Gpu known = open(input.gpu());
    known.check(input.gpu());
    known.check(output.gpu());
    return known;
  }

  private Gpu open(Memory memory) {
    Gpu known = gpu;
    if (known == null) {
      for (Device device : routes.devices()) {
        if (!device.properties().takes(memory.kind())) {
          throw new TransportException(
              FailureCause.UNAVAILABLE, "%s takes no %s memory".formatted(device, memory.kind()));
        }
      }
      known = Gpu.of(memory, given);
      gpu = known;
    }
    return known;
  }

  /** Frees what operations had on it; no NIC accesses that any more. */
  void close() {
    if (gpu != null) {
      gpu.close();
    }
  }
}
