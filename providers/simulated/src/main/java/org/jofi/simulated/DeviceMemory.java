package org.jofi.simulated;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.MemoryKind;

/** The memory of pretended devices: which ranges of this process play it. */
final class DeviceMemory {
  private static final long PAGE = 4096;

  private record Allocation(MemoryKind kind, long address, long bytes) {
    boolean touches(long from, long length) {
      return from < address + bytes && from + length > address;
    }
  }

  private final Arena arena;
  private final List<Allocation> allocations = new ArrayList<>();

  DeviceMemory(Arena arena) {
    this.arena = arena;
  }

  MemorySegment allocate(MemoryKind kind, long bytes) {
    MemorySegment segment = arena.allocate(bytes, PAGE);
    allocations.add(new Allocation(kind, segment.address(), bytes));
    return segment;
  }

  /** What kind of memory is in that range: a device's, or {@link MemoryKind#HOST}. */
  MemoryKind kindOf(long address, long bytes) {
    for (int i = 0; i < allocations.size(); i++) {
      Allocation allocation = allocations.get(i);
      if (allocation.touches(address, bytes)) {
        return allocation.kind();
      }
    }
    return MemoryKind.HOST;
  }
}
