package org.jofi.collectives;

import java.util.HashSet;
import java.util.Set;
import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * The GPU whose memory a group's operations are on: their scratch memory, copies and sums. For one
 * thread; a call waits until the GPU is through with it.
 */
final class Gpu {
  private final DeviceMemory device;
  private final int ordinal;
  private final boolean isOwn;
  private final Set<Long> scratch = new HashSet<>();
  private @Nullable DeviceAdder adder;
  private boolean closed;

  private Gpu(DeviceMemory device, int ordinal, boolean isOwn) {
    this.device = device;
    this.ordinal = ordinal;
    this.isOwn = isOwn;
  }

  /**
   * The GPU of some memory.
   *
   * @param given what the caller opened, perhaps another one; null to open it here
   * @throws TransportException if there is none, and none was given
   */
  static Gpu of(Memory memory, @Nullable DeviceMemory given) {
    if (given != null) {
      return new Gpu(given, given.description().ordinal(), false);
    }
    DeviceMemoryProvider provider =
        DeviceMemoryProvider.of(memory.kind())
            .orElseThrow(
                () ->
                    new TransportException(
                        FailureCause.UNAVAILABLE,
                        memory.kind()
                            + " memory cannot be opened: add org.jofi:jofi-cuda, or give the GPU by"
                            + " GroupOptions.withGpu"));
    return new Gpu(provider.open(memory.device()), memory.device(), true);
  }

  /** Throws unless it is the GPU of that memory. */
  void check(Memory memory) {
    if (memory.kind() != device.kind() || memory.device() != ordinal) {
      throw new IllegalArgumentException(
          "a group works on one GPU, %s %d here, not %s %d"
              .formatted(device.kind(), ordinal, memory.kind(), memory.device()));
    }
  }

  /** Memory of the GPU, until {@link #free} or the end of this. */
  Operand allocate(long bytes) {
    long address = device.allocate(bytes);
    scratch.add(address);
    return Operand.of(Memory.device(device.kind(), ordinal, address, bytes));
  }

  void free(Operand allocated) {
    if (scratch.remove(allocated.address())) {
      device.free(allocated.address());
    }
  }

  void copy(long from, long to, long bytes) {
    adder().copy(from, to, bytes);
  }

  /** Sums of float32; where the sums go, one of the summands may be. */
  void add(long first, long second, long into, long count) {
    long summand = into == second ? first : second;
    if (into != first && into != second) {
      adder().copy(first, into, count * Float.BYTES);
    }
    adder().addFloats(into, summand, count);
  }

  private DeviceAdder adder() {
    DeviceAdder known = adder;
    if (known == null) {
      known = device.openAdder();
      adder = known;
    }
    return known;
  }

  /** Frees what is left; no NIC accesses it any more. */
  void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (adder != null) {
      adder.close();
    }
    scratch.forEach(device::free);
    scratch.clear();
    if (isOwn) {
      device.close();
    }
  }
}
