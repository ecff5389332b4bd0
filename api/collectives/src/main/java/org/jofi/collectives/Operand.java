package org.jofi.collectives;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jofi.fabric.MemoryKind;
import org.jofi.transport.Memory;
import org.jspecify.annotations.Nullable;

/** Memory that an operation reads or writes: of this host, or of a GPU. */
final class Operand {
  /** No memory at all. */
  static final Operand NONE = of(MemorySegment.NULL);

  private final MemorySegment segment;
  private final @Nullable Memory gpu;

  private Operand(MemorySegment segment, @Nullable Memory gpu) {
    this.segment = segment;
    this.gpu = gpu;
  }

  static Operand of(MemorySegment segment) {
    return new Operand(segment, null);
  }

  /**
   * Memory of a GPU, or of a host's segment.
   *
   * @throws IllegalArgumentException if it is host memory by address
   */
  static Operand of(Memory memory) {
    MemorySegment segment = memory.segment();
    if (memory.kind() != MemoryKind.HOST) {
      return new Operand(MemorySegment.NULL, memory);
    }
    if (segment == null) {
      throw new IllegalArgumentException(
          "host memory by address cannot be calculated with; give its MemorySegment");
    }
    return new Operand(segment, null);
  }

  /** Of the host; {@link MemorySegment#NULL} for a GPU's. */
  MemorySegment segment() {
    return segment;
  }

  /** The GPU's memory. */
  Memory gpu() {
    return Objects.requireNonNull(gpu);
  }

  boolean isOnGpu() {
    return gpu != null;
  }

  long address() {
    return gpu == null ? segment.address() : gpu.address();
  }

  long bytes() {
    return gpu == null ? segment.byteSize() : gpu.lengthBytes();
  }
}
