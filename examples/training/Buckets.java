package training;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Gradients of several parameters side by side, so that few long arrays are summed in place of many
 * short ones: the last slice's first, since they are there first. In the first bucket there is also the loss.
 */
final class Buckets {
  private final List<Bucket> all = new ArrayList<>();

  /**
   * A bucket.
   *
   * @param memory what is summed
   * @param lowest the slice whose gradients complete it
   * @param parts what is in it
   */
  record Bucket(MemorySegment memory, int lowest, List<Part> parts) {}

  /**
   * A parameter, and where its gradient is: an array of DJL over the bucket's memory.
   *
   * @param name of the parameter
   * @param memory of the gradient
   */
  record Part(String name, int slice, NDArray parameter, NDArray gradient, MemorySegment memory) {
    /** Copies from memory of the engine to the bucket, once. */
    void take(NDArray from) {
      memory.copyFrom(MemorySegment.ofBuffer(from.toByteBuffer(true)));
    }
  }

  /**
   * Lays them out.
   *
   * @param parameters of each slice
   * @param arena where their memory comes from; outlives the manager
   * @param bytes from which a bucket is full
   */
  Buckets(NDManager manager, List<List<NDArray>> parameters, Arena arena, long bytes) {
    int highest = parameters.size() - 1;
    while (highest >= 0) {
      int lowest = highest;
      long length = bytes(parameters.get(lowest));
      while (lowest > 0 && length < bytes) {
        lowest--;
        length += bytes(parameters.get(lowest));
      }
      MemorySegment memory = arena.allocate(length + (all.isEmpty() ? Float.BYTES : 0), 64);
      List<Part> parts = new ArrayList<>();
      long at = 0;
      for (int slice = highest; slice >= lowest; slice--) {
        for (NDArray parameter : parameters.get(slice)) {
          long size = parameter.size() * Float.BYTES;
          MemorySegment place = memory.asSlice(at, size);
          NDArray view =
              manager.create(
                  place.asByteBuffer().order(ByteOrder.nativeOrder()), parameter.getShape(), DataType.FLOAT32);
          checkShared(view, memory, at);
          parts.add(new Part("%d.%d".formatted(slice, parts.size()), slice, parameter, view, place));
          at += size;
        }
      }
      all.add(new Bucket(memory, lowest, parts));
      highest = lowest - 1;
    }
  }

  private static long bytes(List<NDArray> parameters) {
    return parameters.stream().mapToLong(each -> each.size() * Float.BYTES).sum();
  }

  /** DJL does not promise that an array uses the memory of a direct buffer. */
  private static void checkShared(NDArray view, MemorySegment memory, long at) {
    memory.set(ValueLayout.JAVA_FLOAT, at, 1);
    boolean reads = view.flatten().getFloat(0) == 1;
    view.muli(0);
    if (!reads || memory.get(ValueLayout.JAVA_FLOAT, at) != 0) {
      throw new IllegalStateException("this release of DJL copies direct buffers: copy buckets to arrays and back");
    }
  }

  List<Bucket> all() {
    return all;
  }

  /** Puts the gradients of a slice into its bucket; afterwards they are zero, since DJL adds to them. */
  void collect(int slice, float loss) {
    for (Bucket bucket : all) {
      for (Part part : bucket.parts) {
        if (part.slice == slice) {
          try (NDArray gradient = part.parameter.getGradient()) {
            part.take(gradient);
            gradient.muli(0);
          }
        }
      }
    }
    if (all.getFirst().parts.getFirst().slice == slice) { // later the bucket may be on its way
      MemorySegment first = all.getFirst().memory;
      first.set(ValueLayout.JAVA_FLOAT, first.byteSize() - Float.BYTES, loss);
    }
  }

  /** {@return the loss that is in the first bucket} */
  float loss() {
    MemorySegment first = all.getFirst().memory;
    return first.get(ValueLayout.JAVA_FLOAT, first.byteSize() - Float.BYTES);
  }

  /** Puts the parameters where the gradients are, or gets them from there. */
  void exchangeParameters(boolean fromBuckets) {
    for (Bucket bucket : all) {
      for (Part part : bucket.parts) {
        if (fromBuckets) {
          // NDArray.copyTo would have the parameter use the buffer's memory from then on.
          part.parameter.muli(0).addi(part.gradient);
        } else {
          part.take(part.parameter);
        }
      }
    }
  }
}
