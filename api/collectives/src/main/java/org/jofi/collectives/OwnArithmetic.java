package org.jofi.collectives;

import java.lang.foreign.MemorySegment;

/** A caller's own reduction. */
final class OwnArithmetic extends Arithmetic {
  private final int bytes;
  private final Combiner combiner;

  OwnArithmetic(int bytes, Combiner combiner) {
    super(bytes);
    this.bytes = bytes;
    this.combiner = combiner;
  }

  @Override
  boolean finishes() {
    return false;
  }

  @Override
  void combine(
      MemorySegment first,
      long firstOffset,
      MemorySegment second,
      long secondOffset,
      MemorySegment into,
      long offset,
      long count) {
    if (isSame(second, secondOffset, into, offset)) {
      combiner.combine(into, offset, first, firstOffset, count);
      return;
    }
    if (!isSame(first, firstOffset, into, offset)) {
      MemorySegment.copy(first, firstOffset, into, offset, count * bytes);
    }
    combiner.combine(into, offset, second, secondOffset, count);
  }

  private static boolean isSame(MemorySegment one, long at, MemorySegment other, long otherAt) {
    return one.address() + at == other.address() + otherAt;
  }

  @Override
  void element(
      MemorySegment first,
      long firstOffset,
      MemorySegment second,
      long secondOffset,
      MemorySegment into,
      long offset) {
    combine(first, firstOffset, second, secondOffset, into, offset, 1L);
  }

  @Override
  void block(
      MemorySegment first,
      long firstOffset,
      MemorySegment second,
      long secondOffset,
      MemorySegment into,
      long offset,
      int count) {
    combine(first, firstOffset, second, secondOffset, into, offset, (long) count);
  }

  @Override
  void finishElement(MemorySegment at, long offset) {
    // It ends with the last combination.
  }

  @Override
  void finishBlock(MemorySegment at, long offset, int count) {
    // Likewise.
  }
}
