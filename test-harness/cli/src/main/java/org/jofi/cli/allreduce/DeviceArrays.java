package org.jofi.cli.allreduce;

import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.DeviceMemory;

/** Allocates memory of one GPU, which does the additions. For one thread. */
public final class DeviceArrays implements RingMemory.Allocator, AutoCloseable {
  private final DeviceMemory device;
  private final DeviceAdder adder;

  /**
   * Prepares a GPU.
   *
   * @param device the GPU; it is closed with this, or at once if it cannot add
   * @throws org.jofi.fabric.FabricException if the GPU cannot add
   */
  public DeviceArrays(DeviceMemory device) {
    this.device = device;
    boolean opened = false;
    try {
      adder = device.openAdder();
      opened = true;
    } finally {
      if (!opened) {
        device.close();
      }
    }
  }

  @Override
  public RingMemory allocate(long arrayBytes, long landingBytes) {
    return new DeviceRingMemory(device, adder, arrayBytes, landingBytes);
  }

  /** Name and number of the GPU, such as {@code NVIDIA H200 (CUDA device 0)}. */
  public String describe() {
    return device.toString();
  }

  /**
   * Closes the GPU.
   *
   * @throws IllegalStateException while memory of it is open, as after a failure. NICs may still
   *     access that memory, so it is freed only when the process ends
   */
  @Override
  public void close() {
    adder.close();
    device.close();
  }
}
