package org.jofi.simulated;

import java.util.List;
import java.util.Optional;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.fabric.MemoryKind;

/** The devices of a simulated host as a provider of CUDA memory: one, of number 0. Any thread. */
public final class SimulatedDevices implements DeviceMemoryProvider {
  private final SimulatedHost host;

  /**
   * Finds them.
   *
   * @param host whose they are
   */
  public SimulatedDevices(SimulatedHost host) {
    this.host = host;
  }

  /**
   * {@return these, if they are of that kind}
   *
   * @param kind which memory
   */
  public Optional<DeviceMemoryProvider> of(MemoryKind kind) {
    return kind == kind() ? Optional.of(this) : Optional.empty();
  }

  @Override
  public MemoryKind kind() {
    return MemoryKind.CUDA;
  }

  @Override
  public DeviceProbe probe() {
    try (SimulatedDevice device = open(0)) {
      return new DeviceProbe(kind(), "pretended", List.of(device.description()), "", "");
    }
  }

  @Override
  public SimulatedDevice open(int device) {
    if (device != 0) {
      throw new FabricUnavailableException("there is no pretended GPU " + device);
    }
    return host.openDevice(kind());
  }
}
