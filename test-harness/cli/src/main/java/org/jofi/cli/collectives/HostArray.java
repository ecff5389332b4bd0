package org.jofi.cli.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.collectives.Collective;
import org.jofi.collectives.Group;
import org.jofi.collectives.Plan;

/** An array in host memory. */
public final class HostArray implements MeasuredArray {
  private static final long PAGE_BYTES = 4096;

  private final Arena arena;
  private final MemorySegment array;

  /** Allocates; see {@link MeasuredArray.Allocator}. */
  public HostArray(long bytes) {
    this(Arena.ofConfined(), bytes);
  }

  /** Allocates in an arena, which is closed with this. */
  public HostArray(Arena arena, long bytes) {
    this.arena = arena;
    array = bytes == 0 ? MemorySegment.NULL : arena.allocate(bytes, PAGE_BYTES);
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
  public Plan plan(Group group, Collective collective, String algorithm, MeasuredArray output) {
    return group.plan(collective, algorithm, array, output.image());
  }

  @Override
  public void close() {
    arena.close();
  }
}
