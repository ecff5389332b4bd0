package org.jofi.simulated.memory;

import java.lang.foreign.Arena;
import org.agrona.collections.LongArrayList;

/**
 * Memory for data that is on the wire, in blocks whose sizes are powers of two. Freed with its
 * arena. Used under the network's lock.
 */
public final class Staging {
  private static final int SMALLEST_SHIFT = 8;
  private static final int SLAB = 16;
  private static final int LARGEST_SLAB_SHIFT = 12;

  private final Arena arena;
  private final LongArrayList[] free = new LongArrayList[64];

  public Staging(Arena arena) {
    this.arena = arena;
  }

  /**
   * Takes a block of at least this many bytes and returns its address, which is 64-byte aligned.
   */
  public long take(long bytes) {
    int shift = shift(bytes);
    LongArrayList blocks = blocks(shift);
    if (blocks.isEmpty()) {
      int count = shift <= LARGEST_SLAB_SHIFT ? SLAB : 1;
      long first = arena.allocate((long) count << shift, ProcessMemory.PIECE).address();
      for (int i = 0; i < count; i++) {
        blocks.addLong(first + ((long) i << shift));
      }
    }
    return blocks.removeAt(blocks.size() - 1);
  }

  /** Gives a block back, with the size that it was taken with. */
  public void give(long address, long bytes) {
    blocks(shift(bytes)).addLong(address);
  }

  private LongArrayList blocks(int shift) {
    LongArrayList blocks = free[shift];
    if (blocks == null) {
      blocks = new LongArrayList();
      free[shift] = blocks;
    }
    return blocks;
  }

  private static int shift(long bytes) {
    return Math.max(SMALLEST_SHIFT, 64 - Long.numberOfLeadingZeros(Math.max(1, bytes) - 1));
  }
}
