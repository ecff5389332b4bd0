package org.jofi.cli.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.collectives.Collective;
import org.jofi.collectives.Group;
import org.jofi.collectives.Plan;
import org.jofi.fabric.DeviceMemory;
import org.jofi.transport.Memory;

/** Allocates arrays in the memory of one GPU. For one thread. */
public final class DeviceArrays implements MeasuredArray.Allocator, AutoCloseable {
  private static final long PAGE_BYTES = 4096;

  private final DeviceMemory device;

  /**
   * @param device the GPU, which is closed with this
   */
  public DeviceArrays(DeviceMemory device) {
    this.device = device;
  }

  /** The GPU. */
  public DeviceMemory device() {
    return device;
  }

  @Override
  public Array allocate(long bytes) {
    return new Array(device, bytes);
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
    device.close();
  }

  /** An array in the memory of a GPU, to which its image is copied. */
  public static final class Array implements MeasuredArray {
    private final DeviceMemory device;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment image;
    private final long address;

    private Array(DeviceMemory device, long bytes) {
      this.device = device;
      image = arena.allocate(bytes, PAGE_BYTES);
      boolean allocated = false;
      try {
        address = device.allocate(bytes);
        allocated = true;
      } finally {
        if (!allocated) {
          arena.close();
        }
      }
    }

    /** The array. */
    public Memory memory() {
      return Memory.device(
          device.kind(), device.description().ordinal(), address, image.byteSize());
    }

    @Override
    public MemorySegment image() {
      return image;
    }

    @Override
    public void write() {
      device.copyFromHost(image.address(), address, image.byteSize());
    }

    @Override
    public void read() {
      device.copyToHost(address, image.address(), image.byteSize());
    }

    @Override
    public Plan plan(Group group, Collective collective, String algorithm, MeasuredArray output) {
      Memory memory = memory();
      Memory into = output instanceof Array other ? other.memory() : Memory.of(output.image());
      return group.plan(collective, algorithm, memory, into);
    }

    @Override
    public void close() {
      device.free(address);
      arena.close();
    }
  }
}
