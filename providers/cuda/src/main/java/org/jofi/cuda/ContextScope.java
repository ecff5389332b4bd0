package org.jofi.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.cuda.bindings.CudaDriver;

/**
 * Makes a context current, with the relaxed capture mode, for the calls between {@link #enter} and
 * {@link #exit}. Then it restores the previous context and mode, because the thread belongs to the
 * caller: it may have a context of its own and be in the middle of a capture. One thread at a time;
 * allocates nothing.
 */
final class ContextScope {
  private static final long MODE = Long.BYTES;

  private final long context;
  private final MemorySegment scratch;
  private final long address;
  private long previous;

  /**
   * @param scratch memory for the driver's results, valid as long as this is used
   */
  ContextScope(long context, Arena scratch) {
    this.context = context;
    this.scratch = scratch.allocate(2 * Long.BYTES, Long.BYTES);
    this.address = this.scratch.address();
  }

  /** Makes the context current. Returns CUDA_SUCCESS, or the error; then nothing has changed. */
  int enter() {
    int answer = Downcalls.getCurrent(address);
    if (answer != CudaDriver.CUDA_SUCCESS()) {
      return answer;
    }
    previous = scratch.get(ValueLayout.JAVA_LONG, 0);
    if (previous != context) {
      answer = Downcalls.setCurrent(context);
      if (answer != CudaDriver.CUDA_SUCCESS()) {
        return answer;
      }
    }
    scratch.set(ValueLayout.JAVA_INT, MODE, CudaDriver.CU_STREAM_CAPTURE_MODE_RELAXED());
    answer = Downcalls.exchangeCaptureMode(address + MODE);
    if (answer != CudaDriver.CUDA_SUCCESS()) {
      restoreContext();
    }
    return answer;
  }

  /** Restores what {@link #enter} found. */
  void exit() {
    // enter() left the thread's own mode there.
    Downcalls.exchangeCaptureMode(address + MODE);
    restoreContext();
  }

  private void restoreContext() {
    if (previous != context) {
      Downcalls.setCurrent(previous);
    }
  }
}
