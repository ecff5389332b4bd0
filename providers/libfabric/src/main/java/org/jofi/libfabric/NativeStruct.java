package org.jofi.libfabric;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/** Structs that the caller allocates. */
final class NativeStruct {
  /**
   * Room behind a struct: a newer library may know more fields at its end, and reads or writes
   * them. Zero means "not given" for each of them so far.
   */
  private static final long GROWTH_BYTES = 128;

  private NativeStruct() {}

  /** Zeroed, with room to grow. */
  static MemorySegment allocate(SegmentAllocator allocator, long structBytes) {
    return allocator.allocate(structBytes + GROWTH_BYTES, 16);
  }
}
