package org.jofi.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.cuda.bindings.CudaDriver;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;

/** Converts a CUresult to text, and to an errno of the fabric SPI. */
final class DriverErrors {
  private DriverErrors() {}

  /**
   * Throws unless the result is CUDA_SUCCESS.
   *
   * @param call the function's name in cuda.h
   * @param where device and range, as far as known
   */
  static void check(int answer, String call, String where) {
    if (answer != CudaDriver.CUDA_SUCCESS()) {
      throw exception(answer, call, where);
    }
  }

  static FabricException exception(int answer, String call, String where) {
    return new FabricException(call, errno(answer), words(answer), where);
  }

  /**
   * The driver's own name and text for it, such as {@code CUDA_ERROR_OUT_OF_MEMORY, out of memory}.
   */
  static String words(int answer) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocate(ValueLayout.ADDRESS);
      String name =
          CudaDriver.cuGetErrorName(answer, text) == CudaDriver.CUDA_SUCCESS()
              ? string(text)
              : "CUDA error";
      String words =
          CudaDriver.cuGetErrorString(answer, text) == CudaDriver.CUDA_SUCCESS()
              ? string(text)
              : "unknown to this driver";
      return "%s (%d), %s".formatted(name, answer, words);
    }
  }

  /** A positive {@link FabricErrno}. */
  static int errno(int answer) {
    if (answer == CudaDriver.CUDA_ERROR_OUT_OF_MEMORY()) {
      return FabricErrno.ENOMEM;
    }
    if (answer == CudaDriver.CUDA_ERROR_NO_DEVICE()
        || answer == CudaDriver.CUDA_ERROR_INVALID_DEVICE()
        || answer == CudaDriver.CUDA_ERROR_DEVICE_UNAVAILABLE()) {
      return FabricErrno.ENODEV;
    }
    if (answer == CudaDriver.CUDA_ERROR_NOT_PERMITTED()) {
      return FabricErrno.EPERM;
    }
    if (answer == CudaDriver.CUDA_ERROR_NOT_SUPPORTED()
        || answer == CudaDriver.CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER()) {
      return FabricErrno.EOPNOTSUPP;
    }
    if (answer == CudaDriver.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED()) {
      return FabricErrno.EBUSY;
    }
    if (answer == CudaDriver.CUDA_ERROR_INVALID_VALUE()) {
      return FabricErrno.EINVAL;
    }
    if (answer == CudaDriver.CUDA_ERROR_ILLEGAL_ADDRESS()) {
      return FabricErrno.EFAULT;
    }
    return FabricErrno.EIO;
  }

  @SuppressWarnings("restricted")
  private static String string(MemorySegment pointer) {
    return pointer.get(ValueLayout.ADDRESS, 0).reinterpret(Long.MAX_VALUE).getString(0);
  }
}
