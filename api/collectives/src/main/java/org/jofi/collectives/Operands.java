package org.jofi.collectives;

import org.jofi.collectives.schedule.Operation;
import org.jspecify.annotations.Nullable;

/** The memory of an operation: whether it suits, and what of it is shared. */
final class Operands {
  private Operands() {}

  /**
   * Checks the memory of a rank.
   *
   * @return where the input begins in the output, in elements; null if they share nothing
   * @throws IllegalArgumentException if memory is too short, not native, read-only where something
   *     is written, or shared in another way than {@link Collective} says; or the operation has a
   *     root or lengths that do not suit the ranks, or is none for a GPU's memory
   */
  static @Nullable Long check(
      Collective collective, int rank, int size, Operand input, Operand output) {
    checkGpu(collective, input, output);
    Operation operation = collective.operation();
    if (operation.hasRoot() && operation.root() >= size) {
      throw new IllegalArgumentException("%s: there are %d ranks".formatted(collective, size));
    }
    if (operation.isByCounts()) {
      operation.checkCounts(rank, size);
    }
    int bytes = collective.type().bytes();
    long inputBytes = Math.multiplyExact(operation.input(rank, size), bytes);
    long outputBytes = Math.multiplyExact(operation.output(rank, size), bytes);
    check(collective, "input", input, inputBytes);
    check(collective, "output", output, outputBytes);
    if (output.segment().isReadOnly() && outputBytes > 0) {
      throw new IllegalArgumentException(collective + ": the output is read-only");
    }
    long distance = input.address() - output.address();
    boolean shared =
        inputBytes > 0 && outputBytes > 0 && distance < outputBytes && -distance < inputBytes;
    if (!shared) {
      return null;
    }
    if (operation.isByCounts()) {
      throw new IllegalArgumentException(
          collective + ": input and output overlap, for which there is no way by counts");
    }
    long allowed = operation.inPlace(rank);
    if (distance != allowed * bytes) {
      throw new IllegalArgumentException(
          "%s: input and output overlap; the input may begin at byte %d of the output, not at %d"
              .formatted(collective, allowed * bytes, distance));
    }
    return allowed;
  }

  private static void checkGpu(Collective collective, Operand input, Operand output) {
    if (input.isOnGpu() != output.isOnGpu()) {
      throw new IllegalArgumentException(
          collective + ": one of input and output is a GPU's memory, the other is not");
    }
    Reduction reduction = collective.reduction();
    boolean isSum = Reduction.SUM.equals(reduction) && collective.type() == DataType.F32;
    if (input.isOnGpu() && reduction != null && !isSum) {
      throw new IllegalArgumentException(
          "%s: on a GPU's memory only sums of F32 are formed; copy to host memory for others"
              .formatted(collective));
    }
  }

  private static void check(Collective collective, String which, Operand memory, long bytes) {
    if (bytes > 0 && !memory.isOnGpu() && !memory.segment().isNative()) {
      throw new IllegalArgumentException(
          "%s: the %s is on the Java heap, where objects move; use Arena.allocate"
              .formatted(collective, which));
    }
    if (memory.bytes() < bytes) {
      throw new IllegalArgumentException(
          "%s: the %s has %d bytes, %d are needed"
              .formatted(collective, which, memory.bytes(), bytes));
    }
  }
}
