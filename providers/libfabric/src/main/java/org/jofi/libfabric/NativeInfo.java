package org.jofi.libfabric;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.function.Function;
import org.jofi.libfabric.bindings.Libfabric;

/**
 * A struct fi_info that the library allocated. It is freed when nothing refers to it any more. It
 * is never built in an arena, since a newer library has larger attribute structs than these
 * bindings know.
 */
final class NativeInfo {
  private static final Cleaner CLEANER = Cleaner.create();

  private final MemorySegment pointer;

  private NativeInfo(MemorySegment pointer) {
    this.pointer = pointer;
    long address = pointer.address();
    CLEANER.register(this, () -> Libfabric.fi_freeinfo(MemorySegment.ofAddress(address)));
  }

  /** A copy of an info, without those that follow it in its list. */
  static NativeInfo copyOf(MemorySegment info) {
    MemorySegment copy = Libfabric.fi_dupinfo(info);
    if (copy.address() == 0) {
      throw new OutOfMemoryError("fi_dupinfo");
    }
    return new NativeInfo(copy);
  }

  /** Runs the call with the pointer, which is valid during the call only. */
  <T> T with(Function<MemorySegment, T> call) {
    try {
      return call.apply(pointer);
    } finally {
      Reference.reachabilityFence(this);
    }
  }
}
