package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.transport.Memory;

/** Host memory; the CPU does the additions. */
public final class HostRingMemory implements RingMemory {
  private static final long PAGE_BYTES = 4096;

  private final Arena arena;
  private final MemorySegment array;
  private final MemorySegment landing;

  /** Allocates; see {@link RingMemory.Allocator}. */
  public HostRingMemory(long arrayBytes, long landingBytes) {
    this(Arena.ofConfined(), arrayBytes, landingBytes);
  }

  /** Allocates in an arena, which is closed with this. */
  public HostRingMemory(Arena arena, long arrayBytes, long landingBytes) {
    this.arena = arena;
    array = arena.allocate(arrayBytes, PAGE_BYTES);
    landing = arena.allocate(landingBytes, PAGE_BYTES);
  }

  @Override
  public Memory array() {
    return Memory.of(array);
  }

  @Override
  public Memory landing() {
    return Memory.of(landing);
  }

  @Override
  public void add(long arrayOffset, long landingOffset, int count) {
    long bytes = count * JAVA_FLOAT.byteSize();
    add(array.asSlice(arrayOffset, bytes), landing.asSlice(landingOffset, bytes), count);
  }

  private static void add(MemorySegment sum, MemorySegment summand, int count) {
    for (int i = 0; i < count; i++) {
      sum.setAtIndex(
          JAVA_FLOAT, i, sum.getAtIndex(JAVA_FLOAT, i) + summand.getAtIndex(JAVA_FLOAT, i));
    }
  }

  @Override
  public MemorySegment image() {
    return array;
  }

  @Override
  public void write() {
    // The image is the array.
  }

  @Override
  public void read() {
    // The image is the array.
  }

  @Override
  public void close() {
    arena.close();
  }
}
