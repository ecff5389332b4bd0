package org.jofi.abidouble;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** What pointers of C lead to. */
final class Pointers {
  /** More than any struct that libfabric hands out or takes. */
  private static final long STRUCT_BYTES = 512;

  private Pointers() {}

  /** The struct that a pointer leads to, for the accessors of the bindings. */
  static MemorySegment struct(MemorySegment pointer) {
    return memory(pointer.address(), STRUCT_BYTES);
  }

  /** That many bytes. */
  @SuppressWarnings("restricted")
  static MemorySegment memory(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }

  /** The pointer that another one leads to. */
  static MemorySegment read(MemorySegment pointer) {
    return memory(pointer.address(), ValueLayout.ADDRESS.byteSize()).get(ValueLayout.ADDRESS, 0);
  }

  /** Writes a pointer to where another one leads. */
  static void write(MemorySegment pointer, MemorySegment value) {
    memory(pointer.address(), ValueLayout.ADDRESS.byteSize()).set(ValueLayout.ADDRESS, 0, value);
  }

  static boolean isNull(MemorySegment pointer) {
    return pointer.address() == 0;
  }
}
