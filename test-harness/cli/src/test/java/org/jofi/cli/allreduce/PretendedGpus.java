package org.jofi.cli.allreduce;

import java.util.List;
import java.util.Optional;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.fabric.MemoryKind;
import org.jofi.rdma.spi.RdmaEnvironment;
import org.jofi.runtime.Machine;
import org.jofi.simulated.SimulatedDevice;
import org.jofi.simulated.SimulatedProvider;

/** Pretended GPUs of a simulated network in real time, all of number 0. */
final class PretendedGpus implements DeviceMemoryProvider {
  private final SimulatedProvider network;

  PretendedGpus(SimulatedProvider network) {
    this.network = network;
  }

  /** This machine, as it were with them. */
  RdmaEnvironment environment() {
    RdmaEnvironment machine = Machine.environment();
    return new RdmaEnvironment(
        machine.clock(),
        machine.random(),
        machine.idle(),
        machine.pageBytes(),
        machine.sysfs(),
        kind -> kind == MemoryKind.CUDA ? Optional.of(this) : Optional.empty());
  }

  SimulatedDevice open() {
    return network.host().openDevice(MemoryKind.CUDA);
  }

  @Override
  public MemoryKind kind() {
    return MemoryKind.CUDA;
  }

  @Override
  public DeviceProbe probe() {
    try (SimulatedDevice device = open()) {
      return new DeviceProbe(kind(), "pretended", List.of(device.description()), "", "");
    }
  }

  @Override
  public DeviceMemory open(int device) {
    if (device != 0) {
      throw new FabricUnavailableException("no pretended GPU " + device);
    }
    return open();
  }
}
