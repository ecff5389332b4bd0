package org.jofi.simulated.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** Raw memory of this process, as a NIC sees it. Callers have checked every range. */
public final class ProcessMemory {
  /** The number of bytes that a NIC writes as a whole: a cache line. */
  public static final int PIECE = 64;

  @SuppressWarnings("restricted")
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private ProcessMemory() {}

  /** Copies bytes that do not overlap. */
  public static void copy(long from, long to, long bytes) {
    MemorySegment.copy(ALL, from, ALL, to, bytes);
  }

  /** Adds one array of float32 to another, element by element. */
  public static void addFloats(long sum, long summand, long count) {
    for (long at = 0; at < count * Float.BYTES; at += Float.BYTES) {
      ALL.set(
          ValueLayout.JAVA_FLOAT,
          sum + at,
          ALL.get(ValueLayout.JAVA_FLOAT, sum + at)
              + ALL.get(ValueLayout.JAVA_FLOAT, summand + at));
    }
  }

  /**
   * Writes a piece. Its last bytes become visible to other threads after all its other bytes. So a
   * thread that reads a stamp at the end of the piece with acquire semantics sees the whole piece.
   */
  static void land(long from, long to, long bytes) {
    if (bytes >= 8 && (to + bytes & 7) == 0) {
      copy(from, to, bytes - 8);
      LONG.setRelease(
          ALL, to + bytes - 8, ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, from + bytes - 8));
    } else {
      copy(from, to, bytes);
      VarHandle.releaseFence();
    }
  }

  /** Whether two ranges hold the same bytes. */
  public static boolean same(long a, long b, long bytes) {
    return MemorySegment.mismatch(ALL, a, a + bytes, ALL, b, b + bytes) < 0;
  }
}
