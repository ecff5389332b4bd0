package org.jofi.cli.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.IntUnaryOperator;
import org.jofi.collectives.DataType;
import org.jofi.collectives.Reduction;
import org.jspecify.annotations.Nullable;

/**
 * The elements that ranks contribute, and their reductions, by definition. All are whole numbers
 * from 1 on, so small that every partial reduction is exact in the type in any order. A
 * contribution that is missing or counted twice, or is that of another rank, element or round,
 * gives wrong elements.
 *
 * <p>Elements repeat after a prime number of them, so that filling and checking are copying and
 * comparing of blocks, and no part of an array that begins at a multiple of a chunk looks like
 * another.
 */
final class Contributions {
  /** After so many elements they repeat. */
  static final int PERIOD = 1021;

  /** By how many elements a round's are shifted against those of the round before. */
  private static final int SHIFT = 397;

  private final DataType type;
  private final MemorySegment[] blocks;
  private final MemorySegment reduced;

  /**
   * @param reduction how they are reduced; null if they are only moved
   * @throws IllegalArgumentException if there are too many ranks for exact reductions in the type
   */
  Contributions(DataType type, @Nullable Reduction reduction, int ranks) {
    requireExact(type, reduction, ranks);
    this.type = type;
    blocks = new MemorySegment[ranks];
    for (int rank = 0; rank < ranks; rank++) {
      int of = rank;
      blocks[rank] = block(index -> value(type, reduction, ranks, of, index));
    }
    reduced =
        reduction == null
            ? MemorySegment.NULL
            : block(index -> reduced(type, reduction, ranks, index));
  }

  /**
   * Checks that there are reductions that are exact.
   *
   * @throws IllegalArgumentException if there are too many ranks for that
   */
  static void requireExact(DataType type, @Nullable Reduction reduction, int ranks) {
    int most =
        reduction == Reduction.SUM
            ? largest(type)
            : reduction == Reduction.AVERAGE ? largest(type) / 2 : Integer.MAX_VALUE;
    if (ranks > most) {
      throw new IllegalArgumentException(
          "%s holds whole numbers up to %d only, so that a %s of more than %d ranks cannot be checked; use --type f32"
              .formatted(Names.of(type), largest(type), reduction, most));
    }
  }

  /** Up to this number the type has every whole number; for long types, enough of them. */
  private static int largest(DataType type) {
    return switch (type) {
      case F32 -> 1 << 24;
      case F64, I32, I64 -> 1 << 30;
      case F16 -> 1 << 11;
      case BF16 -> 1 << 8;
      case BYTE -> 200;
    };
  }

  /** What a rank contributes at an index within the period. */
  static int value(DataType type, @Nullable Reduction reduction, int ranks, int rank, int index) {
    if (reduction == Reduction.SUM) {
      return 1 + mixed(index, rank) % (largest(type) / ranks);
    }
    if (reduction == Reduction.AVERAGE) {
      // The sum is a multiple of the number of ranks.
      return base(type, ranks, index) + (rank == index % ranks ? ranks : 0);
    }
    if (reduction == Reduction.PRODUCT) {
      return (rank == index % ranks ? 2 : 1) * (rank == index / ranks % ranks ? 3 : 1);
    }
    return 1 + mixed(index, rank) % largest(type);
  }

  private static int base(DataType type, int ranks, int index) {
    return 1 + mixed(index, 0) % Math.max(1, largest(type) / ranks - 1);
  }

  /** What comes of the contributions of all ranks. */
  static int reduced(DataType type, Reduction reduction, int ranks, int index) {
    long result = value(type, reduction, ranks, 0, index);
    for (int rank = 1; rank < ranks; rank++) {
      long next = value(type, reduction, ranks, rank, index);
      if (reduction == Reduction.PRODUCT) {
        result *= next;
      } else if (reduction == Reduction.MIN) {
        result = Math.min(result, next);
      } else if (reduction == Reduction.MAX) {
        result = Math.max(result, next);
      } else {
        result += next;
      }
    }
    return Math.toIntExact(reduction == Reduction.AVERAGE ? result / ranks : result);
  }

  private static int mixed(int index, int rank) {
    int mixed = index * 0x9E37_79B1 ^ rank * 0x85EB_CA6B;
    mixed = (mixed ^ mixed >>> 15) * 0x2C1B_3C6D;
    return (mixed ^ mixed >>> 12) & Integer.MAX_VALUE;
  }

  /** Two periods, so that one from any index on is in one piece. */
  private MemorySegment block(IntUnaryOperator values) {
    MemorySegment block =
        Arena.ofAuto().allocate(2L * PERIOD * type.bytes(), ValueLayout.JAVA_LONG.byteSize());
    for (int i = 0; i < 2 * PERIOD; i++) {
      set(block, i, values.applyAsInt(i % PERIOD));
    }
    return block;
  }

  private void set(MemorySegment block, long index, int value) {
    switch (type) {
      case F32 -> block.setAtIndex(ValueLayout.JAVA_FLOAT, index, value);
      case F64 -> block.setAtIndex(ValueLayout.JAVA_DOUBLE, index, value);
      case F16 -> block.setAtIndex(ValueLayout.JAVA_SHORT, index, Float.floatToFloat16(value));
      case BF16 ->
          block.setAtIndex(
              ValueLayout.JAVA_SHORT, index, (short) (Float.floatToIntBits(value) >>> 16));
      case I32 -> block.setAtIndex(ValueLayout.JAVA_INT, index, value);
      case I64 -> block.setAtIndex(ValueLayout.JAVA_LONG, index, value);
      case BYTE -> block.set(ValueLayout.JAVA_BYTE, index, (byte) value);
    }
  }

  /**
   * Fills memory with what a rank contributes.
   *
   * @param array takes the elements, from its beginning to its end
   */
  void fill(MemorySegment array, int rank, int round) {
    long elements = array.byteSize() / type.bytes();
    for (long done = 0; done < elements; done += PERIOD) {
      long bytes = Math.min(PERIOD, elements - done) * type.bytes();
      MemorySegment.copy(blocks[rank], begin(done, round), array, done * type.bytes(), bytes);
    }
  }

  /**
   * How many elements are not what a rank contributed.
   *
   * @param array the elements
   * @param first which of the rank's elements its first one has to be
   */
  long wrong(MemorySegment array, int rank, long first, int round) {
    return wrong(array, blocks[rank], first, round);
  }

  /**
   * How many elements are not the reduction of what all ranks contributed.
   *
   * @param array the elements
   * @param first which element of the reduction its first one has to be
   */
  long wrongReduced(MemorySegment array, long first, int round) {
    return wrong(array, reduced, first, round);
  }

  private long wrong(MemorySegment array, MemorySegment block, long first, int round) {
    int each = type.bytes();
    long elements = array.byteSize() / each;
    long wrong = 0;
    for (long done = 0; done < elements; done += PERIOD) {
      long length = Math.min(PERIOD, elements - done) * each;
      long from = begin(first + done, round);
      long at = done * each;
      if (MemorySegment.mismatch(array, at, at + length, block, from, from + length) >= 0) {
        for (long byteInBlock = 0; byteInBlock < length; byteInBlock += each) {
          long here = at + byteInBlock;
          long there = from + byteInBlock;
          if (MemorySegment.mismatch(array, here, here + each, block, there, there + each) >= 0) {
            wrong++;
          }
        }
      }
    }
    return wrong;
  }

  /** Where in a block an element is, in bytes. */
  private long begin(long element, int round) {
    return (element + (long) round * SHIFT) % PERIOD * type.bytes();
  }
}
