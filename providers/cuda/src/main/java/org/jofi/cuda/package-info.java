/**
 * Memory of NVIDIA GPUs, through the CUDA driver API alone: no CUDA toolkit is needed, only the
 * driver's {@code libcuda.so.1}.
 *
 * <p>The driver's library is not loaded until {@link org.jofi.cuda.CudaDevices#probe} or {@link
 * org.jofi.cuda.CudaContext#retain} is called. Addresses of GPU memory are {@link
 * org.jofi.cuda.DevicePointer}s, never memory segments: the CPU cannot access memory through them.
 *
 * <p>No call changes the thread's current context. During a call, the thread's stream-capture mode
 * is the relaxed one, so that the call does not invalidate the capture of another stream
 * (cuThreadExchangeStreamCaptureMode).
 */
@NullMarked
package org.jofi.cuda;

import org.jspecify.annotations.NullMarked;
