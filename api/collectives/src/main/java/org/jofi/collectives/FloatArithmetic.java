package org.jofi.collectives;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reduces {@code float}s, and shorter numbers that become such for it. */
final class FloatArithmetic extends Arithmetic {
  private static final ValueLayout.OfFloat WHOLE = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final ValueLayout.OfShort HALF = ValueLayout.JAVA_SHORT_UNALIGNED;

  private final Reduction.Rule rule;
  private final int ranks;
  private final DataType type;
  private final short[] half = new short[BLOCK];
  private final float[] one = new float[BLOCK];
  private final float[] other = new float[BLOCK];

  FloatArithmetic(DataType type, Reduction reduction, int ranks) {
    super(type.bytes());
    this.type = type;
    rule = reduction.rule();
    this.ranks = ranks;
  }

  @Override
  boolean finishes() {
    return rule == Reduction.Rule.AVERAGE;
  }

  @Override
  void element(
      MemorySegment first,
      long firstOffset,
      MemorySegment second,
      long secondOffset,
      MemorySegment into,
      long offset) {
    float a = load(first, firstOffset);
    float b = load(second, secondOffset);
    float combined =
        switch (rule) {
          case PRODUCT -> a * b;
          case MIN -> Math.min(a, b);
          case MAX -> Math.max(a, b);
          case SUM, AVERAGE, OWN -> a + b;
        };
    store(combined, into, offset);
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
    load(first, firstOffset, one, count);
    load(second, secondOffset, other, count);
    switch (rule) {
      case PRODUCT -> multiply(one, other, count);
      case MIN -> least(one, other, count);
      case MAX -> greatest(one, other, count);
      case SUM, AVERAGE, OWN -> add(one, other, count);
    }
    store(one, into, offset, count);
  }

  private static void add(float[] into, float[] from, int count) {
    for (int i = 0; i < count; i++) {
      into[i] += from[i];
    }
  }

  private static void multiply(float[] into, float[] from, int count) {
    for (int i = 0; i < count; i++) {
      into[i] *= from[i];
    }
  }

  private static void least(float[] into, float[] from, int count) {
    for (int i = 0; i < count; i++) {
      into[i] = Math.min(into[i], from[i]);
    }
  }

  private static void greatest(float[] into, float[] from, int count) {
    for (int i = 0; i < count; i++) {
      into[i] = Math.max(into[i], from[i]);
    }
  }

  @Override
  void finishElement(MemorySegment at, long offset) {
    store(load(at, offset) / ranks, at, offset);
  }

  @Override
  void finishBlock(MemorySegment at, long offset, int count) {
    load(at, offset, one, count);
    for (int i = 0; i < count; i++) {
      one[i] /= ranks;
    }
    store(one, at, offset, count);
  }

  private float load(MemorySegment from, long offset) {
    return switch (type) {
      case F16 -> Float.float16ToFloat(from.get(HALF, offset));
      case BF16 -> Float.intBitsToFloat(from.get(HALF, offset) << 16);
      default -> from.get(WHOLE, offset);
    };
  }

  private void load(MemorySegment from, long offset, float[] to, int count) {
    if (type == DataType.F32) {
      MemorySegment.copy(from, WHOLE, offset, to, 0, count);
      return;
    }
    MemorySegment.copy(from, HALF, offset, half, 0, count);
    if (type == DataType.F16) {
      for (int i = 0; i < count; i++) {
        to[i] = Float.float16ToFloat(half[i]);
      }
    } else {
      for (int i = 0; i < count; i++) {
        to[i] = Float.intBitsToFloat(half[i] << 16);
      }
    }
  }

  private void store(float number, MemorySegment to, long offset) {
    switch (type) {
      case F16 -> to.set(HALF, offset, Float.floatToFloat16(number));
      case BF16 -> to.set(HALF, offset, upperHalf(number));
      default -> to.set(WHOLE, offset, number);
    }
  }

  private void store(float[] from, MemorySegment to, long offset, int count) {
    if (type == DataType.F32) {
      MemorySegment.copy(from, 0, to, WHOLE, offset, count);
      return;
    }
    if (type == DataType.F16) {
      for (int i = 0; i < count; i++) {
        half[i] = Float.floatToFloat16(from[i]);
      }
    } else {
      for (int i = 0; i < count; i++) {
        half[i] = upperHalf(from[i]);
      }
    }
    MemorySegment.copy(half, 0, to, HALF, offset, count);
  }

  /** Rounded to the nearest; of two that are as near, the even one. */
  static short upperHalf(float number) {
    int bits = Float.floatToIntBits(number);
    // The one value that stands for all that are not numbers would be rounded to infinity.
    return Float.isNaN(number)
        ? (short) (bits >>> 16)
        : (short) ((bits + 0x7fff + (bits >>> 16 & 1)) >>> 16);
  }
}
