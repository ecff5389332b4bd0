package org.jofi.simulated.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jofi.fabric.DeviceAllocation;
import org.jofi.fabric.MemoryKind;

/** The memory of simulated devices: the ranges of this process's memory that stand for it. */
public final class DeviceRanges {
  private static final long PAGE = 4096;

  private record Allocation(MemoryKind kind, long address, long bytes, long id) {
    boolean touches(long from, long length) {
      return from < address + bytes && from + length > address;
    }
  }

  private final Arena arena;
  private final List<Allocation> allocations = new ArrayList<>();

  public DeviceRanges(Arena arena) {
    this.arena = arena;
  }

  public MemorySegment allocate(MemoryKind kind, long bytes) {
    MemorySegment segment = arena.allocate(bytes, PAGE);
    allocations.add(new Allocation(kind, segment.address(), bytes, allocations.size() + 1L));
    return segment;
  }

  /** The kind of memory of a range: a device's, or {@link MemoryKind#HOST}. */
  public MemoryKind kindOf(long address, long bytes) {
    for (int i = 0; i < allocations.size(); i++) {
      Allocation allocation = allocations.get(i);
      if (allocation.touches(address, bytes)) {
        return allocation.kind();
      }
    }
    return MemoryKind.HOST;
  }

  /** The allocation of this kind that contains the range, if there is one. */
  public Optional<DeviceAllocation> allocation(MemoryKind kind, long address, long bytes) {
    return allocations.stream()
        .filter(allocation -> allocation.kind() == kind)
        .map(
            allocation ->
                new DeviceAllocation(
                    kind, 0, allocation.address(), allocation.bytes(), allocation.id()))
        .filter(allocation -> allocation.covers(address, bytes))
        .findFirst();
  }
}
