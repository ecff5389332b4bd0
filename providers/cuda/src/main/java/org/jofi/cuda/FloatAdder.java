package org.jofi.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import org.jofi.cuda.bindings.CudaDriver;
import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;

/**
 * Adds arrays with a kernel in PTX, which the driver compiles when this is opened, and copies them
 * by cuMemcpyDtoDAsync. It has a stream of its own, CU_STREAM_NON_BLOCKING, so that it does not
 * wait for work of other streams. One thread at a time.
 */
final class FloatAdder implements DeviceAdder {
  /** Its kernel: {@value #ENTRY}(sum, summand, count). */
  static final String RESOURCE = "add_floats.ptx";

  private static final String ENTRY = "jofi_add_floats";
  private static final int THREADS = 256;
  private static final int MOST_BLOCKS = 2048;

  /** Time limit of one call. */
  static final Duration BOUND = Duration.ofSeconds(30);

  private static final long COUNT = 2 * Long.BYTES;

  private final CudaContext context;
  private final long boundNanos;
  private final Arena arena;
  private final ContextScope scope;
  private final MemorySegment arguments;
  private final MemorySegment parameters;
  private final MemorySegment module;
  private final MemorySegment stream;
  private final long function;
  private boolean closed;

  private FloatAdder(
      CudaContext context,
      long boundNanos,
      Arena arena,
      MemorySegment module,
      MemorySegment function,
      MemorySegment stream) {
    this.context = context;
    this.boundNanos = boundNanos;
    this.arena = arena;
    this.scope = new ContextScope(context.handle(), arena);
    this.module = module;
    this.function = function.address();
    this.stream = stream;
    arguments = arena.allocate(3 * Long.BYTES, Long.BYTES);
    parameters = arena.allocate(ValueLayout.ADDRESS, 3);
    for (int i = 0; i < 3; i++) {
      parameters.setAtIndex(ValueLayout.ADDRESS, i, arguments.asSlice((long) i * Long.BYTES));
    }
  }

  static FloatAdder open(CudaContext context, Duration bound) {
    String ptx = ptx();
    return context.inContext(
        "cuModuleLoadData",
        RESOURCE,
        scratch -> {
          MemorySegment handle = scratch.allocate(ValueLayout.ADDRESS);
          check(
              context,
              CudaDriver.cuModuleLoadData(handle, scratch.allocateFrom(ptx)),
              "cuModuleLoadData");
          MemorySegment module = handle.get(ValueLayout.ADDRESS, 0);
          boolean opened = false;
          try {
            check(
                context,
                CudaDriver.cuModuleGetFunction(handle, module, scratch.allocateFrom(ENTRY)),
                "cuModuleGetFunction");
            MemorySegment function = handle.get(ValueLayout.ADDRESS, 0);
            check(
                context,
                CudaDriver.cuStreamCreate(handle, CudaDriver.CU_STREAM_NON_BLOCKING()),
                "cuStreamCreate");
            MemorySegment stream = handle.get(ValueLayout.ADDRESS, 0);
            opened = true;
            return new FloatAdder(
                context, bound.toNanos(), Arena.ofShared(), module, function, stream);
          } finally {
            if (!opened) {
              CudaDriver.cuModuleUnload(module);
            }
          }
        });
  }

  private static String ptx() {
    try (InputStream in = FloatAdder.class.getResourceAsStream(RESOURCE)) {
      byte[] text = Objects.requireNonNull(in, RESOURCE).readAllBytes();
      return new String(text, StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void addFloats(long sumAddress, long summandAddress, long count) {
    requireOpen();
    if (((sumAddress | summandAddress) & Float.BYTES - 1) != 0 || count < 0) {
      throw new IllegalArgumentException(
          "cannot add %d elements at 0x%x to those at 0x%x: addresses are multiples of 4"
              .formatted(count, summandAddress, sumAddress));
    }
    if (count == 0) {
      return;
    }
    arguments.set(ValueLayout.JAVA_LONG, 0, sumAddress);
    arguments.set(ValueLayout.JAVA_LONG, Long.BYTES, summandAddress);
    arguments.set(ValueLayout.JAVA_LONG, COUNT, count);
    int blocks = (int) Math.min(Math.ceilDiv(count, THREADS), MOST_BLOCKS);
    check(context, scope.enter(), "cuCtxSetCurrent");
    finish(
        "cuLaunchKernel",
        Downcalls.launch(function, blocks, THREADS, stream.address(), parameters.address()),
        "a sum of %d elements",
        count);
  }

  @Override
  public void copy(long fromAddress, long toAddress, long bytes) {
    requireOpen();
    if (bytes < 0) {
      throw new IllegalArgumentException("cannot copy %d bytes".formatted(bytes));
    }
    if (bytes == 0) {
      return;
    }
    check(context, scope.enter(), "cuCtxSetCurrent");
    finish(
        "cuMemcpyDtoDAsync",
        Downcalls.copyOnDevice(toAddress, fromAddress, bytes, stream.address()),
        "a copy of %d bytes",
        bytes);
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the adder is closed");
    }
  }

  /** Waits for what a call started, if it did, and leaves the context. */
  private void finish(String started, int answerOfStart, String what, long count) {
    String call = started;
    int answer = answerOfStart;
    if (answer == CudaDriver.CUDA_SUCCESS()) {
      call = "cuStreamQuery";
      answer = await();
    }
    scope.exit();
    if (answer == CudaDriver.CUDA_ERROR_NOT_READY()) {
      throw new FabricException(
          call,
          FabricErrno.ETIMEDOUT,
          "%s did not end within %.1f s".formatted(what.formatted(count), boundNanos / 1e9),
          context.where(RESOURCE));
    }
    check(context, answer, call);
  }

  /** Waits for the stream and returns its result; CUDA_ERROR_NOT_READY if it took too long. */
  private int await() {
    long start = System.nanoTime();
    int answer = Downcalls.queryStream(stream.address());
    while (answer == CudaDriver.CUDA_ERROR_NOT_READY() && System.nanoTime() - start < boundNanos) {
      Thread.yield();
      answer = Downcalls.queryStream(stream.address());
    }
    return answer;
  }

  private static void check(CudaContext context, int answer, String call) {
    // The text that says where is made only for a failure, because it allocates.
    if (answer != CudaDriver.CUDA_SUCCESS()) {
      throw DriverErrors.exception(answer, call, context.where(RESOURCE));
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    // Nothing is running, since each call waits for its work.
    int answer =
        context.inContext(
            "cuModuleUnload",
            RESOURCE,
            scratch -> {
              int destroyed = CudaDriver.cuStreamDestroy_v2(stream);
              int unloaded = CudaDriver.cuModuleUnload(module);
              return destroyed == CudaDriver.CUDA_SUCCESS() ? unloaded : destroyed;
            });
    arena.close();
    context.adderClosed();
    check(context, answer, "cuModuleUnload");
  }
}
