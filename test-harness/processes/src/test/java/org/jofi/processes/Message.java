package org.jofi.processes;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A message and what it says: bytes that depend on a seed and on their place. */
final class Message {
  final MemorySegment memory;
  private final long seed;
  long request;

  Message(MemorySegment memory, long seed) {
    this.memory = memory;
    this.seed = seed;
  }

  void fill() {
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, at(i));
    }
  }

  void check() {
    for (long i = 0; i < memory.byteSize(); i++) {
      if (memory.get(ValueLayout.JAVA_BYTE, i) != at(i)) {
        throw new IllegalStateException(
            "byte %d of %d is not as sent".formatted(i, memory.byteSize()));
      }
    }
  }

  void demandDone(long result) {
    if (result != memory.byteSize()) {
      throw new IllegalStateException("%d bytes of %d".formatted(result, memory.byteSize()));
    }
  }

  private byte at(long index) {
    long mixed = (seed * 0x9E3779B97F4A7C15L + index) * 0xBF58476D1CE4E5B9L;
    return (byte) (mixed >>> 56);
  }
}
