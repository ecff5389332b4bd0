package org.jofi.collectives;

import java.lang.foreign.MemorySegment;

/**
 * Reduces elements in blocks, through arrays on the Java heap: two segments may overlap, so that
 * the JIT compiler combines their elements one by one; of arrays it combines many at once. For one
 * thread, to which its arrays belong.
 */
abstract class Arithmetic {
  /** Elements that are combined at a time: the blocks stay in the nearest cache. */
  static final int BLOCK = 1024;

  /**
   * Fewer are combined one by one. Copying them to arrays takes longer than it saves; and loops
   * over arrays that ran with a few elements at first are compiled for few: 32 KiB then take four
   * times as long for the life of the process.
   */
  private static final int LEAST_BLOCK = 32;

  private final int bytes;

  Arithmetic(int bytes) {
    this.bytes = bytes;
  }

  /** That of a type and a reduction. */
  static Arithmetic of(DataType type, Reduction reduction, int ranks) {
    Combiner combiner = reduction.combiner();
    if (combiner != null) {
      return new OwnArithmetic(type.bytes(), combiner);
    }
    return switch (type) {
      case F32, F16, BF16 -> new FloatArithmetic(type, reduction, ranks);
      case F64 -> new DoubleArithmetic(reduction, ranks);
      case I32 -> new IntArithmetic(reduction, ranks);
      case I64 -> new LongArithmetic(reduction, ranks);
      case BYTE -> throw new IllegalArgumentException("bytes have no " + reduction);
    };
  }

  /** Combines two ranges; all offsets are in bytes. */
  void combine(
      MemorySegment first,
      long firstOffset,
      MemorySegment second,
      long secondOffset,
      MemorySegment into,
      long offset,
      long count) {
    if (count < LEAST_BLOCK) {
      for (long at = 0; at < count * bytes; at += bytes) {
        element(first, firstOffset + at, second, secondOffset + at, into, offset + at);
      }
      return;
    }
    for (long done = 0; done < count; done += BLOCK) {
      long at = done * bytes;
      block(
          first,
          firstOffset + at,
          second,
          secondOffset + at,
          into,
          offset + at,
          (int) Math.min(BLOCK, count - done));
    }
  }

  /** Ends a reduction, in place. */
  void finish(MemorySegment at, long offset, long count) {
    if (count < LEAST_BLOCK) {
      for (long done = 0; done < count; done++) {
        finishElement(at, offset + done * bytes);
      }
      return;
    }
    for (long done = 0; done < count; done += BLOCK) {
      finishBlock(at, offset + done * bytes, (int) Math.min(BLOCK, count - done));
    }
  }

  /** Whether {@link #finish} changes anything. */
  abstract boolean finishes();

  abstract void element(
      MemorySegment first,
      long firstOffset,
      MemorySegment second,
      long secondOffset,
      MemorySegment into,
      long offset);

  abstract void block(
      MemorySegment first,
      long firstOffset,
      MemorySegment second,
      long secondOffset,
      MemorySegment into,
      long offset,
      int count);

  abstract void finishElement(MemorySegment at, long offset);

  abstract void finishBlock(MemorySegment at, long offset, int count);
}
