package org.jofi.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.cuda.bindings.CudaDriver;
import org.jofi.fabric.DeviceCopier;
import org.jofi.fabric.FabricErrno;

/**
 * Copies on a stream of its own, with an event after each copy. The stream is
 * CU_STREAM_NON_BLOCKING, so that the copies do not wait for work of other streams, not even of the
 * default stream. One thread at a time.
 *
 * <p>Each copy has a slot in a ring of events. The stream runs the copies in order, so a slot is
 * free again when its last copy is over.
 */
public final class CopyStream implements DeviceCopier {
  private static final byte FREE = 0;
  private static final byte UNDER_WAY = 1;

  private final CudaContext context;
  private final Arena arena;
  private final ContextScope scope;
  private final long stream;
  private final long[] events;
  private final byte[] states;
  private int next;
  private int lastFailure;
  private boolean closed;

  private CopyStream(CudaContext context, Arena arena, long stream, long[] events) {
    this.context = context;
    this.arena = arena;
    this.scope = new ContextScope(context.handle(), arena);
    this.stream = stream;
    this.events = events;
    this.states = new byte[events.length];
  }

  static CopyStream open(CudaContext context, int copies) {
    if (copies < 1) {
      throw new IllegalArgumentException("a stream carries 1 copy or more, not " + copies);
    }
    return context.inContext(
        "cuStreamCreate",
        "",
        scratch -> {
          MemorySegment handle = scratch.allocate(ValueLayout.JAVA_LONG);
          DriverErrors.check(
              CudaDriver.cuStreamCreate(handle, CudaDriver.CU_STREAM_NON_BLOCKING()),
              "cuStreamCreate",
              context.where(""));
          long stream = handle.get(ValueLayout.JAVA_LONG, 0);
          long[] events = new long[copies];
          for (int i = 0; i < copies; i++) {
            int answer = CudaDriver.cuEventCreate(handle, CudaDriver.CU_EVENT_DISABLE_TIMING());
            if (answer != CudaDriver.CUDA_SUCCESS()) {
              destroy(stream, events, i);
              throw DriverErrors.exception(answer, "cuEventCreate", context.where(""));
            }
            events[i] = handle.get(ValueLayout.JAVA_LONG, 0);
          }
          return new CopyStream(context, Arena.ofShared(), stream, events);
        });
  }

  private static void destroy(long stream, long[] events, int count) {
    for (int i = 0; i < count; i++) {
      CudaDriver.cuEventDestroy_v2(MemorySegment.ofAddress(events[i]));
    }
    CudaDriver.cuStreamDestroy_v2(MemorySegment.ofAddress(stream));
  }

  @Override
  public int toHost(long deviceAddress, long hostAddress, long bytes) {
    return start(true, deviceAddress, hostAddress, bytes);
  }

  @Override
  public int toDevice(long hostAddress, long deviceAddress, long bytes) {
    return start(false, deviceAddress, hostAddress, bytes);
  }

  private int start(boolean toHost, long device, long host, long bytes) {
    requireOpen();
    int slot = next;
    if (states[slot] != FREE) {
      return -FabricErrno.EAGAIN;
    }
    int answer = scope.enter();
    if (answer == CudaDriver.CUDA_SUCCESS()) {
      answer =
          toHost
              ? Downcalls.copyToHost(host, device, bytes, stream)
              : Downcalls.copyToDevice(device, host, bytes, stream);
      if (answer == CudaDriver.CUDA_SUCCESS()) {
        answer = Downcalls.record(events[slot], stream);
        if (answer != CudaDriver.CUDA_SUCCESS()) {
          // The copy is running, and nobody will test it. Its memory must not be reused before it
          // ends.
          CudaDriver.cuStreamSynchronize(MemorySegment.ofAddress(stream));
        }
      }
      scope.exit();
    }
    if (answer != CudaDriver.CUDA_SUCCESS()) {
      return failed(answer);
    }
    states[slot] = UNDER_WAY;
    next = slot + 1 == events.length ? 0 : slot + 1;
    return slot;
  }

  @Override
  public int test(int copy) {
    requireOpen();
    if (copy < 0 || copy >= states.length || states[copy] != UNDER_WAY) {
      throw new IllegalArgumentException("no copy %d is under way".formatted(copy));
    }
    int answer = scope.enter();
    if (answer == CudaDriver.CUDA_SUCCESS()) {
      answer = Downcalls.query(events[copy]);
      scope.exit();
    }
    if (answer == CudaDriver.CUDA_ERROR_NOT_READY()) {
      return IN_PROGRESS;
    }
    states[copy] = FREE;
    return answer == CudaDriver.CUDA_SUCCESS() ? DONE : failed(answer);
  }

  private int failed(int answer) {
    lastFailure = answer;
    return -DriverErrors.errno(answer);
  }

  @Override
  public String failureText() {
    return lastFailure == CudaDriver.CUDA_SUCCESS()
        ? ""
        : "%s: %s".formatted(context.where("copy stream"), DriverErrors.words(lastFailure));
  }

  /** The stream, a CUstream. */
  MemorySegment handle() {
    return MemorySegment.ofAddress(stream);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      int answer =
          context.inContext(
              "cuStreamSynchronize",
              "",
              scratch -> {
                int waited = CudaDriver.cuStreamSynchronize(MemorySegment.ofAddress(stream));
                destroy(stream, events, events.length);
                return waited;
              });
      DriverErrors.check(answer, "cuStreamSynchronize", context.where("copy stream"));
    } finally {
      // Close it even if the context and the stream are gone.
      arena.close();
      context.streamClosed();
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("copy stream is closed");
    }
  }
}
