package org.jofi.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.cuda.bindings.CudaDriver;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;

/** Reads the driver's attributes of one address. A context must be current. */
final class AttributeReader {
  private final DevicePointer pointer;
  private final String where;
  private final MemorySegment word;

  AttributeReader(DevicePointer pointer, String where, Arena arena) {
    this.pointer = pointer;
    this.where = where;
    this.word = arena.allocate(ValueLayout.JAVA_LONG);
  }

  PointerAttributes read() {
    int type = (int) attribute(CudaDriver.CU_POINTER_ATTRIBUTE_MEMORY_TYPE());
    boolean managed = (byte) attribute(CudaDriver.CU_POINTER_ATTRIBUTE_IS_MANAGED()) != 0;
    PointerAttributes.Kind kind =
        managed
            ? PointerAttributes.Kind.MANAGED
            : type == CudaDriver.CU_MEMORYTYPE_HOST()
                ? PointerAttributes.Kind.HOST
                : PointerAttributes.Kind.DEVICE;
    return new PointerAttributes(
        kind,
        (int) attribute(CudaDriver.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL()),
        attribute(CudaDriver.CU_POINTER_ATTRIBUTE_BUFFER_ID()),
        attribute(CudaDriver.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR()),
        attribute(CudaDriver.CU_POINTER_ATTRIBUTE_RANGE_SIZE()));
  }

  private long attribute(int attribute) {
    word.set(ValueLayout.JAVA_LONG, 0, 0);
    int answer = CudaDriver.cuPointerGetAttribute(word, attribute, pointer.address());
    if (answer == CudaDriver.CUDA_ERROR_INVALID_VALUE()) {
      throw new FabricException(
          "cuPointerGetAttribute",
          FabricErrno.EFAULT,
          "the driver knows no such address; " + DriverErrors.words(answer),
          where);
    }
    DriverErrors.check(answer, "cuPointerGetAttribute", where);
    return word.get(ValueLayout.JAVA_LONG, 0);
  }
}
