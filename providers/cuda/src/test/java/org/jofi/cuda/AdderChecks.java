package org.jofi.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.jofi.cuda.bindings.CudaDriver;
import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.DeviceMemory;

/** What holds of sums and copies on a GPU, over the stand-in for the driver and on a real one. */
final class AdderChecks {
  private static final long PAGE = 4096;

  private AdderChecks() {}

  /**
   * Sums of any numbers, subnormal and infinite ones among them, are Java's to the last bit;
   * neither what is added nor what lies around the sums changes.
   */
  static void sumsAreExact(int... counts) {
    try (DeviceMemory memory = new CudaDeviceMemoryProvider().open(0);
        DeviceAdder adder = memory.openAdder()) {
      SplittableRandom random = new SplittableRandom(3);
      for (int count : counts) {
        sumIsExact(memory, adder, count, random);
      }
    }
  }

  private static void sumIsExact(
      DeviceMemory memory, DeviceAdder adder, int count, SplittableRandom random) {
    // One element more at either end, so that no array is aligned to more than its elements.
    long bytes = (count + 2L) * Float.BYTES;
    long deviceSums = memory.allocate(bytes);
    long deviceSummands = memory.allocate(bytes);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sums = arena.allocate(bytes, PAGE);
      MemorySegment summands = arena.allocate(bytes, PAGE);
      for (long i = 0; i < count + 2L; i++) {
        sums.setAtIndex(ValueLayout.JAVA_FLOAT, i, number(random));
        summands.setAtIndex(ValueLayout.JAVA_FLOAT, i, number(random));
      }
      memory.copyFromHost(sums.address(), deviceSums, bytes);
      memory.copyFromHost(summands.address(), deviceSummands, bytes);
      adder.addFloats(deviceSums + Float.BYTES, deviceSummands + Float.BYTES, count);
      MemorySegment found = arena.allocate(bytes, PAGE);
      memory.copyToHost(deviceSummands, found.address(), bytes);
      assertEquals(-1, found.mismatch(summands), () -> count + ": what is added changed");
      memory.copyToHost(deviceSums, found.address(), bytes);
      for (long i = 1; i <= count; i++) {
        float sum =
            sums.getAtIndex(ValueLayout.JAVA_FLOAT, i)
                + summands.getAtIndex(ValueLayout.JAVA_FLOAT, i);
        sums.setAtIndex(ValueLayout.JAVA_FLOAT, i, sum);
      }
      assertEquals(-1, found.mismatch(sums), () -> "a sum of " + count + " differs");
    }
    memory.free(deviceSums);
    memory.free(deviceSummands);
  }

  /** Copies of any length and alignment; what lies around them does not change. */
  static void copiesAreExact(int... lengths) {
    try (DeviceMemory memory = new CudaDeviceMemoryProvider().open(0);
        DeviceAdder adder = memory.openAdder();
        Arena arena = Arena.ofConfined()) {
      SplittableRandom random = new SplittableRandom(5);
      for (int length : lengths) {
        long bytes = length + 2L;
        long from = memory.allocate(bytes);
        long to = memory.allocate(bytes);
        MemorySegment source = arena.allocate(bytes, PAGE);
        MemorySegment expected = arena.allocate(bytes, PAGE);
        for (long i = 0; i < bytes; i++) {
          source.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
        memory.copyFromHost(source.address(), from, bytes);
        memory.copyFromHost(expected.address(), to, bytes);
        adder.copy(from + 1, to + 1, length);
        MemorySegment.copy(source, 1, expected, 1, length);
        MemorySegment found = arena.allocate(bytes, PAGE);
        memory.copyToHost(to, found.address(), bytes);
        assertEquals(-1, found.mismatch(expected), () -> "a copy of " + length + " differs");
        memory.free(from);
        memory.free(to);
      }
    }
  }

  /** Any but those whose sum may be no number, which has many patterns. */
  private static float number(SplittableRandom random) {
    return switch (random.nextInt(8)) {
      case 0 -> Float.MIN_VALUE * random.nextInt(-1000, 1000);
      case 1 -> Float.POSITIVE_INFINITY;
      case 2 -> -0.0f;
      case 3 -> Float.MAX_VALUE * random.nextFloat();
      default -> (random.nextFloat() - 0.5f) * (1 << random.nextInt(30));
    };
  }

  /** What the device, or the caller, cannot is refused, and the adder goes on. */
  static void wrongSumsAreRefused() {
    try (DeviceMemory memory = new CudaDeviceMemoryProvider().open(0);
        DeviceAdder adder = memory.openAdder()) {
      long array = memory.allocate(64);
      assertThrows(IllegalArgumentException.class, () -> adder.addFloats(array + 1, array, 1));
      assertThrows(IllegalArgumentException.class, () -> adder.addFloats(array, array + 2, 1));
      assertThrows(IllegalArgumentException.class, () -> adder.addFloats(array, array, -1));
      adder.addFloats(array, array, 0);
      adder.addFloats(array, array + 32, 8);
      memory.free(array);
    }
  }

  /** Kernels are compiled, and sums formed, while another stream is captured. */
  static void sumsDuringCapture() {
    try (Arena arena = Arena.ofConfined();
        CudaContext context = CudaContext.retain(0);
        CopyStream captured = context.openStream(1)) {
      MemorySegment graph = arena.allocate(ValueLayout.ADDRESS);
      MemorySegment host = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1, 2, 3, 4);
      DevicePointer device = context.allocate(16);
      context.copyFromHost(host.address(), device, 16);
      context.call(
          "cuStreamBeginCapture",
          "",
          scratch ->
              CudaDriver.cuStreamBeginCapture_v2(
                  captured.handle(), CudaDriver.CU_STREAM_CAPTURE_MODE_GLOBAL()));
      try (DeviceAdder adder = context.openAdder()) {
        adder.addFloats(device.address(), device.address() + 8, 2);
      }
      context.call(
          "cuStreamEndCapture",
          "",
          scratch -> CudaDriver.cuStreamEndCapture(captured.handle(), graph));
      MemorySegment made = graph.get(ValueLayout.ADDRESS, 0);
      assertNotEquals(0, made.address(), "the capture was invalidated");
      context.call("cuGraphDestroy", "", scratch -> CudaDriver.cuGraphDestroy(made));
      context.copyToHost(device, host.address(), 16);
      assertEquals(4, host.getAtIndex(ValueLayout.JAVA_FLOAT, 0));
      assertEquals(6, host.getAtIndex(ValueLayout.JAVA_FLOAT, 1));
      context.free(device);
    }
  }
}
