package org.jofi.cli.verify;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.MemoryKind;
import org.jofi.transport.Memory;
import org.jspecify.annotations.Nullable;

/** A buffer in host memory or device memory. The code that made it closes it. */
final class VerifiedMemory implements AutoCloseable {
  private static final long ALIGNMENT = 4096;

  private final @Nullable DeviceMemory device;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment host;
  private final long address;

  /**
   * @param device the device; null for host memory
   */
  VerifiedMemory(@Nullable DeviceMemory device, long bytes) {
    this.device = device;
    // With a device, this memory is the source and target of copies.
    host = arena.allocate(bytes, ALIGNMENT);
    address = device == null ? host.address() : device.allocate(bytes);
  }

  long address() {
    return address;
  }

  Memory memory() {
    return device == null
        ? Memory.of(host)
        : Memory.device(MemoryKind.CUDA, device.description().ordinal(), address, host.byteSize());
  }

  void put(MemorySegment bytes) {
    MemorySegment.copy(bytes, 0, host, 0, host.byteSize());
    if (device != null) {
      device.copyFromHost(host.address(), address, host.byteSize());
    }
  }

  void read(MemorySegment into) {
    if (device != null) {
      device.copyToHost(address, host.address(), host.byteSize());
    }
    MemorySegment.copy(host, 0, into, 0, host.byteSize());
  }

  /** Frees the buffer; again, it does nothing. */
  @Override
  public void close() {
    if (!arena.scope().isAlive()) {
      return;
    }
    if (device != null) {
      device.free(address);
    }
    arena.close();
  }
}
