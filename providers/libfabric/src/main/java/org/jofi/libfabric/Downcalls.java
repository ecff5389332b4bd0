package org.jofi.libfabric;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * Calls through the function pointers of libfabric's operation tables. All operands are passed as
 * longs. One static method handle per number of operands serves all calls: static handles are
 * constants for the JIT, and pointers as longs need no liveness check of a segment per call.
 *
 * <p>The calls are not {@code critical}. Each of them may drive a provider's progress, take its
 * locks and make system calls for an unbounded time, and a critical call would delay safepoints for
 * as long.
 */
final class Downcalls {
  private static final MethodHandle LONGS_2 = handle(2);
  private static final MethodHandle LONGS_3 = handle(3);
  private static final MethodHandle LONGS_4 = handle(4);
  private static final MethodHandle LONGS_6 = handle(6);
  private static final MethodHandle LONGS_7 = handle(7);
  private static final MethodHandle LONGS_8 = handle(8);
  private static final MethodHandle LONGS_9 = handle(9);

  private Downcalls() {}

  @SuppressWarnings("restricted")
  private static MethodHandle handle(int arity) {
    ValueLayout[] operands = new ValueLayout[arity];
    Arrays.fill(operands, ValueLayout.JAVA_LONG);
    return Linker.nativeLinker()
        .downcallHandle(FunctionDescriptor.of(ValueLayout.JAVA_LONG, operands));
  }

  static long call(MemorySegment function, long a, long b) {
    try {
      return (long) LONGS_2.invokeExact(function, a, b);
    } catch (Throwable impossible) {
      throw failed(impossible);
    }
  }

  static long call(MemorySegment function, long a, long b, long c) {
    try {
      return (long) LONGS_3.invokeExact(function, a, b, c);
    } catch (Throwable impossible) {
      throw failed(impossible);
    }
  }

  static long call(MemorySegment function, long a, long b, long c, long d) {
    try {
      return (long) LONGS_4.invokeExact(function, a, b, c, d);
    } catch (Throwable impossible) {
      throw failed(impossible);
    }
  }

  static long call(MemorySegment function, long a, long b, long c, long d, long e, long f) {
    try {
      return (long) LONGS_6.invokeExact(function, a, b, c, d, e, f);
    } catch (Throwable impossible) {
      throw failed(impossible);
    }
  }

  static long call(MemorySegment function, long a, long b, long c, long d, long e, long f, long g) {
    try {
      return (long) LONGS_7.invokeExact(function, a, b, c, d, e, f, g);
    } catch (Throwable impossible) {
      throw failed(impossible);
    }
  }

  static long call(
      MemorySegment function, long a, long b, long c, long d, long e, long f, long g, long h) {
    try {
      return (long) LONGS_8.invokeExact(function, a, b, c, d, e, f, g, h);
    } catch (Throwable impossible) {
      throw failed(impossible);
    }
  }

  static long call(
      MemorySegment function,
      long a,
      long b,
      long c,
      long d,
      long e,
      long f,
      long g,
      long h,
      long i) {
    try {
      return (long) LONGS_9.invokeExact(function, a, b, c, d, e, f, g, h, i);
    } catch (Throwable impossible) {
      throw failed(impossible);
    }
  }

  /** A downcall with longs throws no exception of its own; errors of the JVM are rethrown. */
  private static RuntimeException failed(Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    return new IllegalStateException("native call failed", cause);
  }
}
