package org.jofi.cli.allreduce;

import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.DeviceMemory;

/** Gives memory of one GPU, which adds there. For one thread. */
public final class DeviceArrays implements RingMemory.Allocator, AutoCloseable {
  private final DeviceMemory device;
  private final DeviceAdder adder;

  /**
   * Makes a GPU ready.
   *
   * @param device closed with this, or at once if it cannot add
   * @throws org.jofi.fabric.FabricException if it cannot
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

  /** Which GPU, such as {@code NVIDIA H200 (CUDA device 0)}. */
  public String describe() {
    return device.toString();
  }

  /**
   * Gives the GPU back.
   *
   * @throws IllegalStateException while memory of it is open, as after a failure: NICs may still be
   *     at it, and it goes with the process
   */
  @Override
  public void close() {
    adder.close();
    device.close();
  }
}
