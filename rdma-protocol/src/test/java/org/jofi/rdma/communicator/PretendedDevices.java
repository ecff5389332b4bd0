package org.jofi.rdma.communicator;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.fabric.MemoryKind;
import org.jofi.simulated.SimulatedDevice;
import org.jofi.simulated.SimulatedHost;

/** A pretended CUDA device on a simulated host. */
final class PretendedDevices implements DeviceMemoryProvider {
  private final SimulatedHost host;
  private final UnaryOperator<DeviceMemory> as;

  /** Those that were opened. */
  final List<SimulatedDevice> opened = new ArrayList<>();

  PretendedDevices(SimulatedHost host, UnaryOperator<DeviceMemory> as) {
    this.host = host;
    this.as = as;
  }

  Optional<DeviceMemoryProvider> of(MemoryKind kind) {
    return kind == MemoryKind.CUDA ? Optional.of(this) : Optional.empty();
  }

  @Override
  public MemoryKind kind() {
    return MemoryKind.CUDA;
  }

  @Override
  public DeviceProbe probe() {
    return new DeviceProbe(MemoryKind.CUDA, "", List.of(), "not asked for", "do not ask");
  }

  @Override
  public DeviceMemory open(int device) {
    if (device != 0) {
      throw new FabricUnavailableException("no CUDA device " + device);
    }
    SimulatedDevice made = host.openDevice(MemoryKind.CUDA);
    opened.add(made);
    return as.apply(made);
  }
}
