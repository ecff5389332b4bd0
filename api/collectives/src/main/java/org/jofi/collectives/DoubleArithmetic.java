package org.jofi.collectives;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reduces {@code double}s. */
final class DoubleArithmetic extends Arithmetic {
  private static final ValueLayout.OfDouble LAYOUT = ValueLayout.JAVA_DOUBLE_UNALIGNED;

  private final Reduction.Rule rule;
  private final int ranks;
  private final double[] one = new double[BLOCK];
  private final double[] other = new double[BLOCK];

  DoubleArithmetic(Reduction reduction, int ranks) {
    super(Double.BYTES);
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
    double a = first.get(LAYOUT, firstOffset);
    double b = second.get(LAYOUT, secondOffset);
    double combined =
        switch (rule) {
          case PRODUCT -> a * b;
          case MIN -> Math.min(a, b);
          case MAX -> Math.max(a, b);
          case SUM, AVERAGE, OWN -> a + b;
        };
    into.set(LAYOUT, offset, combined);
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
    MemorySegment.copy(first, LAYOUT, firstOffset, one, 0, count);
    MemorySegment.copy(second, LAYOUT, secondOffset, other, 0, count);
    switch (rule) {
      case PRODUCT -> multiply(one, other, count);
      case MIN -> least(one, other, count);
      case MAX -> greatest(one, other, count);
      case SUM, AVERAGE, OWN -> add(one, other, count);
    }
    MemorySegment.copy(one, 0, into, LAYOUT, offset, count);
  }

  private static void add(double[] into, double[] from, int count) {
    for (int i = 0; i < count; i++) {
      into[i] += from[i];
    }
  }

  private static void multiply(double[] into, double[] from, int count) {
    for (int i = 0; i < count; i++) {
      into[i] *= from[i];
    }
  }

  private static void least(double[] into, double[] from, int count) {
    for (int i = 0; i < count; i++) {
      into[i] = Math.min(into[i], from[i]);
    }
  }

  private static void greatest(double[] into, double[] from, int count) {
    for (int i = 0; i < count; i++) {
      into[i] = Math.max(into[i], from[i]);
    }
  }

  @Override
  void finishElement(MemorySegment at, long offset) {
    at.set(LAYOUT, offset, at.get(LAYOUT, offset) / ranks);
  }

  @Override
  void finishBlock(MemorySegment at, long offset, int count) {
    MemorySegment.copy(at, LAYOUT, offset, one, 0, count);
    for (int i = 0; i < count; i++) {
      one[i] /= ranks;
    }
    MemorySegment.copy(one, 0, at, LAYOUT, offset, count);
  }
}
