package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Small whole numbers of each type, which every type holds exactly, reduced over three ranks. */
final class Numbers {
  /** More than a block of the arithmetic, and no multiple of it. */
  private static final int COUNT = 1500;

  /** So few that they are combined one by one. */
  private static final int FEW = 5;

  private Numbers() {}

  static void check(Group group, DataType type, Reduction reduction) {
    check(group, type, reduction, COUNT);
    check(group, type, reduction, FEW);
  }

  private static void check(Group group, DataType type, Reduction reduction, int count) {
    MemorySegment array = Arena.ofAuto().allocate((long) count * type.bytes(), 8);
    for (int i = 0; i < count; i++) {
      set(array, type, i, number(i, group.rank()));
    }
    group.allReduce(array, type, reduction);
    for (int i = 0; i < count; i++) {
      int index = i;
      // Adding 0 makes minus 0 plain.
      assertEquals(
          expected(i, reduction),
          get(array, type, i) + 0.0,
          () -> "%s of %s, element %d".formatted(reduction, type, index));
    }
  }

  private static int number(int index, int rank) {
    return 3 * (index % 5 - 2) + rank * 3;
  }

  private static double expected(int index, Reduction reduction) {
    int a = number(index, 0);
    int b = number(index, 1);
    int c = number(index, 2);
    return switch (reduction.name()) {
      case "sum" -> a + b + c;
      case "product" -> a * b * c;
      case "min" -> Math.min(a, Math.min(b, c));
      case "max" -> Math.max(a, Math.max(b, c));
      default -> (a + b + c) / 3.0;
    };
  }

  private static void set(MemorySegment array, DataType type, int index, int value) {
    switch (type) {
      case F32 -> array.setAtIndex(ValueLayout.JAVA_FLOAT, index, value);
      case F64 -> array.setAtIndex(ValueLayout.JAVA_DOUBLE, index, value);
      case F16 -> array.setAtIndex(ValueLayout.JAVA_SHORT, index, Float.floatToFloat16(value));
      case BF16 ->
          array.setAtIndex(
              ValueLayout.JAVA_SHORT, index, (short) (Float.floatToIntBits(value) >>> 16));
      case I32 -> array.setAtIndex(ValueLayout.JAVA_INT, index, value);
      case I64 -> array.setAtIndex(ValueLayout.JAVA_LONG, index, value);
      case BYTE -> throw new IllegalArgumentException("bytes are no numbers");
    }
  }

  private static double get(MemorySegment array, DataType type, int index) {
    return switch (type) {
      case F32 -> array.getAtIndex(ValueLayout.JAVA_FLOAT, index);
      case F64 -> array.getAtIndex(ValueLayout.JAVA_DOUBLE, index);
      case F16 -> Float.float16ToFloat(array.getAtIndex(ValueLayout.JAVA_SHORT, index));
      case BF16 -> Float.intBitsToFloat(array.getAtIndex(ValueLayout.JAVA_SHORT, index) << 16);
      case I32 -> array.getAtIndex(ValueLayout.JAVA_INT, index);
      case I64 -> array.getAtIndex(ValueLayout.JAVA_LONG, index);
      case BYTE -> throw new IllegalArgumentException("bytes are no numbers");
    };
  }
}
