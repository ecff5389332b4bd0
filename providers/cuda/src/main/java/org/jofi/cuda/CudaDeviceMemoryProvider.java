package org.jofi.cuda;

import java.util.List;
import java.util.Set;
import org.jofi.cuda.bindings.CudaDriver;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.fabric.MemoryKind;

/**
 * Gives access to the memory of NVIDIA GPUs. A service for {@link java.util.ServiceLoader}. Any
 * thread.
 */
public final class CudaDeviceMemoryProvider implements DeviceMemoryProvider {

  /** For the service loader; loads no driver. */
  public CudaDeviceMemoryProvider() {}

  @Override
  public MemoryKind kind() {
    return MemoryKind.CUDA;
  }

  @Override
  public DeviceProbe probe() {
    return CudaDevices.probe();
  }

  @Override
  public Set<Module> nativeModules() {
    // On the class path they are the same.
    return Set.copyOf(
        List.of(CudaDeviceMemoryProvider.class.getModule(), CudaDriver.class.getModule()));
  }

  /**
   * @throws FabricUnavailableException as described there
   */
  @Override
  public DeviceMemory open(int device) {
    CudaContext context = CudaContext.retain(device);
    boolean described = false;
    try {
      DeviceMemory memory = new CudaDeviceMemory(context);
      described = true;
      return memory;
    } finally {
      if (!described) {
        context.close();
      }
    }
  }
}
