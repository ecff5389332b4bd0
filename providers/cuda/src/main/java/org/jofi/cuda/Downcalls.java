package org.jofi.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jofi.cuda.bindings.CudaDriver;

/**
 * The calls that are made per copy and per sum. Pointers are passed as longs, so that nothing is
 * allocated. The class is initialised by its first use, when the driver is loaded. No call is
 * {@code critical}, because the driver may take any time.
 */
@SuppressWarnings("restricted")
final class Downcalls {
  private static final MethodHandle GET_CURRENT =
      handle(CudaDriver.cuCtxGetCurrent$address(), JAVA_LONG);
  private static final MethodHandle SET_CURRENT =
      handle(CudaDriver.cuCtxSetCurrent$address(), JAVA_LONG);
  private static final MethodHandle EXCHANGE_MODE =
      handle(CudaDriver.cuThreadExchangeStreamCaptureMode$address(), JAVA_LONG);
  private static final MethodHandle TO_HOST =
      handle(CudaDriver.cuMemcpyDtoHAsync_v2$address(), JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle TO_DEVICE =
      handle(CudaDriver.cuMemcpyHtoDAsync_v2$address(), JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle ON_DEVICE =
      handle(CudaDriver.cuMemcpyDtoDAsync_v2$address(), JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle RECORD =
      handle(CudaDriver.cuEventRecord$address(), JAVA_LONG, JAVA_LONG);
  private static final MethodHandle QUERY = handle(CudaDriver.cuEventQuery$address(), JAVA_LONG);
  private static final MethodHandle QUERY_STREAM =
      handle(CudaDriver.cuStreamQuery$address(), JAVA_LONG);
  private static final MethodHandle LAUNCH =
      handle(
          CudaDriver.cuLaunchKernel$address(),
          JAVA_LONG,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG);

  private Downcalls() {}

  static int getCurrent(long to) {
    try {
      return (int) GET_CURRENT.invokeExact(to);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int setCurrent(long context) {
    try {
      return (int) SET_CURRENT.invokeExact(context);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int exchangeCaptureMode(long at) {
    try {
      return (int) EXCHANGE_MODE.invokeExact(at);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int copyToHost(long host, long device, long bytes, long stream) {
    try {
      return (int) TO_HOST.invokeExact(host, device, bytes, stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int copyToDevice(long device, long host, long bytes, long stream) {
    try {
      return (int) TO_DEVICE.invokeExact(device, host, bytes, stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int copyOnDevice(long to, long from, long bytes, long stream) {
    try {
      return (int) ON_DEVICE.invokeExact(to, from, bytes, stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int record(long event, long stream) {
    try {
      return (int) RECORD.invokeExact(event, stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int query(long event) {
    try {
      return (int) QUERY.invokeExact(event);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int queryStream(long stream) {
    try {
      return (int) QUERY_STREAM.invokeExact(stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Launches a kernel on a grid of one dimension, without shared memory. */
  static int launch(long function, int blocks, int threads, long stream, long parameters) {
    try {
      return (int)
          LAUNCH.invokeExact(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, 0L);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** A downcall throws no exception of its own. */
  static AssertionError unexpected(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    if (thrown instanceof RuntimeException exception) {
      throw exception;
    }
    return new AssertionError("a downcall threw", thrown);
  }

  private static MethodHandle handle(
      MemorySegment function, java.lang.foreign.MemoryLayout... arguments) {
    return Linker.nativeLinker()
        .downcallHandle(function, FunctionDescriptor.of(JAVA_INT, arguments));
  }
}
