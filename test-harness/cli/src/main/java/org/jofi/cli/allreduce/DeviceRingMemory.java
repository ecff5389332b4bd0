package org.jofi.cli.allreduce;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.DeviceMemory;
import org.jofi.transport.Memory;

/** GPU memory; the GPU does the additions. The image is copied to it and from it synchronously. */
final class DeviceRingMemory implements RingMemory {
  private static final long PAGE_BYTES = 4096;

  private final DeviceMemory device;
  private final DeviceAdder adder;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment image;
  private final long array;
  private final long landing;
  private final long landingBytes;

  /**
   * Allocates.
   *
   * @param device the GPU; it must stay open longer than this, and so must the adder
   */
  DeviceRingMemory(DeviceMemory device, DeviceAdder adder, long arrayBytes, long landingBytes) {
    this.device = device;
    this.adder = adder;
    this.landingBytes = landingBytes;
    image = arena.allocate(arrayBytes, PAGE_BYTES);
    array = device.allocate(arrayBytes);
    boolean allocated = false;
    try {
      landing = device.allocate(landingBytes);
      allocated = true;
    } finally {
      if (!allocated) {
        device.free(array);
        arena.close();
      }
    }
  }

  @Override
  public Memory array() {
    return memory(array, image.byteSize());
  }

  @Override
  public Memory landing() {
    return memory(landing, landingBytes);
  }

  private Memory memory(long address, long bytes) {
    return Memory.device(device.kind(), device.description().ordinal(), address, bytes);
  }

  @Override
  public void add(long arrayOffset, long landingOffset, int count) {
    adder.addFloats(array + arrayOffset, landing + landingOffset, count);
  }

  @Override
  public MemorySegment image() {
    return image;
  }

  @Override
  public void write() {
    device.copyFromHost(image.address(), array, image.byteSize());
  }

  @Override
  public void read() {
    device.copyToHost(array, image.address(), image.byteSize());
  }

  @Override
  public void close() {
    device.free(array);
    device.free(landing);
    arena.close();
  }
}
