/**
 * Memory of NVIDIA GPUs, through the CUDA driver API alone: no CUDA toolkit is needed, only the
 * driver's {@code libcuda.so.1}.
 *
 * <p>Nothing here loads it until {@link org.jofi.cuda.CudaDevices#probe} or {@link
 * org.jofi.cuda.CudaContext#retain} is called. Addresses of GPU memory are {@link
 * org.jofi.cuda.DevicePointer}s, never memory segments: the processor cannot follow them.
 *
 * <p>Every call leaves the thread's current context as it found it, and exchanges the thread's
 * stream-capture mode for the relaxed one meanwhile, so that another stream's capture is not
 * invalidated by it (cuThreadExchangeStreamCaptureMode).
 */
@NullMarked
package org.jofi.cuda;

import org.jspecify.annotations.NullMarked;
