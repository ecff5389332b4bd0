package org.jofi.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jofi.cuda.bindings.CudaDriver;
import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricUnavailableException;

/**
 * The primary context of a GPU, which the CUDA runtime and all frameworks in this process share.
 * This class retains it. Any thread.
 *
 * <p>A call does not change the thread's current context or its stream-capture mode. A call that
 * fails throws a {@link FabricException} with the driver's text.
 */
public final class CudaContext implements AutoCloseable {
  private final int ordinal;
  private final int device;
  private final long context;
  private final Map<Long, Long> allocations = new ConcurrentHashMap<>();
  private final AtomicInteger streams = new AtomicInteger();
  private final AtomicInteger modules = new AtomicInteger();
  private final AtomicBoolean open = new AtomicBoolean(true);

  private CudaContext(int ordinal, int device, long context) {
    this.ordinal = ordinal;
    this.device = device;
    this.context = context;
  }

  /**
   * Retains the primary context of a device: cuDevicePrimaryCtxRetain.
   *
   * @throws FabricUnavailableException if there is no driver or no such device; the message says
   *     what to do
   */
  public static CudaContext retain(int ordinal) {
    CudaLibrary.load();
    int answer = CudaDriver.cuInit(0);
    if (answer != CudaDriver.CUDA_SUCCESS()) {
      var probe = CudaDevices.probe();
      throw new FabricUnavailableException(
          "no CUDA device %d: %s. %s".formatted(ordinal, probe.obstacle(), probe.remedy()));
    }
    String where = "CUDA device " + ordinal;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment word = arena.allocate(ValueLayout.JAVA_LONG);
      DriverErrors.check(CudaDriver.cuDeviceGetCount(word), "cuDeviceGetCount", where);
      int count = word.get(ValueLayout.JAVA_INT, 0);
      if (ordinal < 0 || ordinal >= count) {
        throw new FabricUnavailableException(
            "no CUDA device %d: there are %d, numbered from 0. See what nvidia-smi -L lists"
                .formatted(ordinal, count));
      }
      DriverErrors.check(CudaDriver.cuDeviceGet(word, ordinal), "cuDeviceGet", where);
      int device = word.get(ValueLayout.JAVA_INT, 0);
      DriverErrors.check(
          CudaDriver.cuDevicePrimaryCtxRetain(word, device), "cuDevicePrimaryCtxRetain", where);
      return new CudaContext(ordinal, device, word.get(ValueLayout.JAVA_LONG, 0));
    }
  }

  /** The device's number, from 0. */
  public int ordinal() {
    return ordinal;
  }

  /**
   * Allocates GPU memory: cuMemAlloc. Its content is undefined.
   *
   * @throws FabricException {@code ENOMEM} if there is not enough memory
   */
  public DevicePointer allocate(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("cannot allocate %d bytes".formatted(bytes));
    }
    return inContext(
        "cuMemAlloc",
        bytes + " bytes",
        arena -> {
          MemorySegment pointer = arena.allocate(ValueLayout.JAVA_LONG);
          check(CudaDriver.cuMemAlloc_v2(pointer, bytes), "cuMemAlloc", bytes + " bytes");
          long address = pointer.get(ValueLayout.JAVA_LONG, 0);
          // With this attribute, synchronous copies are finished when they return, which a NIC
          // relies on.
          MemorySegment yes = arena.allocateFrom(ValueLayout.JAVA_INT, 1);
          int answer =
              CudaDriver.cuPointerSetAttribute(
                  yes, CudaDriver.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS(), address);
          if (answer != CudaDriver.CUDA_SUCCESS()) {
            CudaDriver.cuMemFree_v2(address);
            throw DriverErrors.exception(answer, "cuPointerSetAttribute", where("SYNC_MEMOPS"));
          }
          allocations.put(address, bytes);
          return new DevicePointer(address);
        });
  }

  /**
   * Frees memory that {@link #allocate} returned: cuMemFree. No NIC may be using it. What is still
   * registered of it stays allocated until it is not.
   *
   * @throws IllegalArgumentException if it returned no such address, or the memory is already freed
   */
  public void free(DevicePointer pointer) {
    if (allocations.remove(pointer.address()) == null) {
      throw new IllegalArgumentException(
          "%s was not allocated by this context, or was freed before".formatted(pointer));
    }
    call("cuMemFree", pointer.toString(), arena -> CudaDriver.cuMemFree_v2(pointer.address()));
  }

  /**
   * What the driver knows about an address of any device or of pinned host memory.
   *
   * @throws FabricException {@code EFAULT} if it does not know the address
   */
  public PointerAttributes attributes(DevicePointer pointer) {
    return inContext(
        "cuPointerGetAttribute",
        pointer.toString(),
        arena -> new AttributeReader(pointer, where(pointer.toString()), arena).read());
  }

  /**
   * Exports the pages of a range as a dma-buf: cuMemGetHandleForAddressRange. The caller closes it
   * with {@link #closeDmaBuf}.
   *
   * @throws FabricException {@code EOPNOTSUPP} if the device, the driver or the kernel cannot do it
   */
  public DmaBuf exportDmaBuf(DevicePointer pointer, long bytes) {
    String range = "%s + %d bytes".formatted(pointer, bytes);
    if (!CudaLibrary.has("cuMemGetHandleForAddressRange")) {
      throw new FabricException(
          "cuMemGetHandleForAddressRange",
          FabricErrno.EOPNOTSUPP,
          "the driver is older than CUDA 11.7",
          where(range));
    }
    long page = LibC.pageBytes();
    long from = pointer.address() & -page;
    long to = pointer.address() + bytes + page - 1 & -page;
    return inContext(
        "cuMemGetHandleForAddressRange",
        range,
        arena -> {
          MemorySegment handle = arena.allocate(ValueLayout.JAVA_LONG);
          check(
              CudaDriver.cuMemGetHandleForAddressRange(
                  handle, from, to - from, CudaDriver.CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD(), 0),
              "cuMemGetHandleForAddressRange",
              range);
          return new DmaBuf(handle.get(ValueLayout.JAVA_INT, 0), pointer.address() - from);
        });
  }

  /** Closes an exported dma-buf: close(2). */
  public void closeDmaBuf(DmaBuf exported) {
    if (LibC.close(exported.fd()) != 0) {
      throw new IllegalArgumentException("fd %d is not open".formatted(exported.fd()));
    }
  }

  /**
   * Pins host memory, so that every context can copy at full speed: cuMemHostRegister.
   *
   * @throws FabricException {@code EBUSY} if part of it is already pinned, {@code ENOMEM} if a
   *     limit is exceeded
   */
  public void pin(long hostAddress, long bytes) {
    String range = "host [0x%x, +%d)".formatted(hostAddress, bytes);
    call(
        "cuMemHostRegister",
        range,
        arena ->
            CudaDriver.cuMemHostRegister_v2(
                MemorySegment.ofAddress(hostAddress),
                bytes,
                CudaDriver.CU_MEMHOSTREGISTER_PORTABLE()));
  }

  /** Undoes {@link #pin}: cuMemHostUnregister. */
  public void unpin(long hostAddress) {
    call(
        "cuMemHostUnregister",
        "host 0x" + Long.toHexString(hostAddress),
        arena -> CudaDriver.cuMemHostUnregister(MemorySegment.ofAddress(hostAddress)));
  }

  /** Fills GPU memory with a byte and waits until it is done: cuMemsetD8. */
  public void fill(DevicePointer pointer, byte value, long bytes) {
    call(
        "cuMemsetD8",
        pointer.toString(),
        arena -> {
          int answer = CudaDriver.cuMemsetD8_v2(pointer.address(), value, bytes);
          return answer == CudaDriver.CUDA_SUCCESS() ? CudaDriver.cuCtxSynchronize() : answer;
        });
  }

  /** Copies from the GPU and waits until it is done: cuMemcpyDtoH. */
  public void copyToHost(DevicePointer from, long hostAddress, long bytes) {
    call(
        "cuMemcpyDtoH",
        "%s, %d bytes".formatted(from, bytes),
        arena ->
            CudaDriver.cuMemcpyDtoH_v2(
                MemorySegment.ofAddress(hostAddress), from.address(), bytes));
  }

  /** Copies to the GPU and waits until it is done: cuMemcpyHtoD. */
  public void copyFromHost(long hostAddress, DevicePointer to, long bytes) {
    call(
        "cuMemcpyHtoD",
        "%s, %d bytes".formatted(to, bytes),
        arena ->
            CudaDriver.cuMemcpyHtoD_v2(to.address(), MemorySegment.ofAddress(hostAddress), bytes));
  }

  /**
   * Makes earlier writes of NICs visible to this device: cuFlushGPUDirectRDMAWrites.
   *
   * @return 0, or a negative {@link FabricErrno}; {@code -EOPNOTSUPP} if the device or the driver
   *     cannot do it
   */
  public int flushRemoteWrites() {
    if (!CudaLibrary.has("cuFlushGPUDirectRDMAWrites")) {
      return -FabricErrno.EOPNOTSUPP;
    }
    int answer =
        inContext(
            "cuFlushGPUDirectRDMAWrites",
            "",
            arena ->
                CudaDriver.cuFlushGPUDirectRDMAWrites(
                    CudaDriver.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX(),
                    CudaDriver.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER()));
    return answer == CudaDriver.CUDA_SUCCESS() ? 0 : -DriverErrors.errno(answer);
  }

  /**
   * Opens a stream for copies that does not wait for other streams, not even for the default
   * stream. The caller closes it before it closes this.
   *
   * @param copies how many may be in progress at once, at least 1
   */
  public CopyStream openStream(int copies) {
    requireOpen();
    CopyStream stream = CopyStream.open(this, copies);
    streams.incrementAndGet();
    return stream;
  }

  /**
   * Opens an object that adds arrays of this device. It has a module, and a stream that does not
   * wait for other streams. The caller closes it before it closes this.
   *
   * @throws FabricException if the driver cannot compile the kernel for this device
   */
  public DeviceAdder openAdder() {
    return openAdder(FloatAdder.BOUND);
  }

  DeviceAdder openAdder(Duration bound) {
    requireOpen();
    FloatAdder adder = FloatAdder.open(this, bound);
    streams.incrementAndGet();
    modules.incrementAndGet();
    return adder;
  }

  /**
   * Releases the context: cuDevicePrimaryCtxRelease. A second call does nothing.
   *
   * @throws IllegalStateException while allocations, streams or modules of it are open
   */
  @Override
  public void close() {
    if (open.get() && !(allocations.isEmpty() && streams.get() == 0 && modules.get() == 0)) {
      throw new IllegalStateException(
          "%s: %d allocations, %d streams and %d modules are still open"
              .formatted(where(""), allocations.size(), streams.get(), modules.get()));
    }
    if (open.compareAndSet(true, false)) {
      DriverErrors.check(
          CudaDriver.cuDevicePrimaryCtxRelease_v2(device), "cuDevicePrimaryCtxRelease", where(""));
    }
  }

  long handle() {
    return context;
  }

  void streamClosed() {
    streams.decrementAndGet();
  }

  void adderClosed() {
    modules.decrementAndGet();
    streams.decrementAndGet();
  }

  String where(String what) {
    return "CUDA device " + ordinal + (what.isEmpty() ? "" : ", " + what);
  }

  void call(String name, String what, ToIntFunction<Arena> call) {
    check(inContext(name, what, call::applyAsInt), name, what);
  }

  <T> T inContext(String name, String what, Function<Arena, T> call) {
    requireOpen();
    try (Arena arena = Arena.ofConfined()) {
      ContextScope scope = new ContextScope(context, arena);
      check(scope.enter(), name, what);
      try {
        return call.apply(arena);
      } finally {
        scope.exit();
      }
    }
  }

  private void check(int answer, String name, String what) {
    if (answer != CudaDriver.CUDA_SUCCESS()) {
      throw DriverErrors.exception(answer, name, where(what));
    }
  }

  private void requireOpen() {
    if (!open.get()) {
      throw new IllegalStateException(where("") + " is closed");
    }
  }
}
