package org.jofi.libfabric;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/** Allocates the structs that the caller of libfabric has to allocate. */
final class NativeStruct {
  /**
   * Extra space after a struct: a newer library may have more fields at its end, and read or write
   * them. So far, zero means "not given" for each of those fields.
   */
  private static final long GROWTH_BYTES = 128;

  private NativeStruct() {}

  /** Allocates a zeroed struct with extra space. */
  static MemorySegment allocate(SegmentAllocator allocator, long structBytes) {
    return allocator.allocate(structBytes + GROWTH_BYTES, 16);
  }
}
