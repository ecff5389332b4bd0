package org.jofi.fabric;

/**
 * The memory of one device, opened. Any thread. Addresses are the device's own and mean nothing to
 * this process: never read or write through them.
 *
 * <p>Calls leave the thread's own current context of the driver as it was, and may be made while a
 * stream of the device is being captured.
 */
public interface DeviceMemory extends AutoCloseable {

  /** Which kind of memory. */
  MemoryKind kind();

  /** What the device is and can do. */
  DeviceProbe.Device description();

  /**
   * Allocates memory of the device, for tests and tools; what it holds is undefined.
   *
   * @param bytes its length, at least 1
   * @return its address, never 0
   * @throws FabricException {@code ENOMEM} if there is not as much
   */
  long allocate(long bytes);

  /**
   * Frees what {@link #allocate} gave.
   *
   * @throws IllegalArgumentException if it gave no such address, or it was freed before
   */
  void free(long address);

  /**
   * The allocation that an address lies in.
   *
   * @throws FabricException {@code EFAULT} if the driver knows no such address
   */
  DeviceAllocation allocation(long address);

  /**
   * Exports device memory as a dma-buf, for {@link RegionRequest#withDmaBuf}. The caller closes the
   * file descriptor with {@link #closeDmaBuf}, after the region.
   *
   * @param address first byte of the range
   * @param lengthBytes its length; the exported piece may be longer, and begin earlier
   * @throws FabricException {@code EOPNOTSUPP} if the device or the kernel has no dma-buf
   */
  DmaBuf exportDmaBuf(long address, long lengthBytes);

  /** Closes the file descriptor of an exported dma-buf: close(2). */
  void closeDmaBuf(DmaBuf exported);

  /**
   * Pins host memory, so that the device copies from and to it by itself and at full speed.
   *
   * @throws FabricException {@code ENOMEM} if the limits on pinned memory do not allow it, {@code
   *     EBUSY} if some of it is pinned already
   */
  void pin(long hostAddress, long bytes);

  /**
   * Undoes {@link #pin}.
   *
   * @param hostAddress what was pinned
   */
  void unpin(long hostAddress);

  /**
   * Makes all that NICs wrote into the device's memory before visible to it, if {@link
   * DeviceProbe.Device#flush} is {@link DeviceProbe.FlushCall#HOST}.
   *
   * @return 0, or a negative {@link FabricErrno}: {@code -EOPNOTSUPP} if the device cannot
   */
  int flushRemoteWrites();

  /** Copies to host memory and waits for it. For tests and tools. */
  void copyToHost(long deviceAddress, long hostAddress, long bytes);

  /** Copies from host memory and waits for it. For tests and tools. */
  void copyFromHost(long hostAddress, long deviceAddress, long bytes);

  /**
   * Opens a queue of asynchronous copies. The caller closes it, before this.
   *
   * @param copies how many may be under way at once, at least 1
   */
  DeviceCopier openCopier(int copies);

  /**
   * Opens what adds arrays on the device, for tests and tools. The caller closes it, before this.
   *
   * @throws FabricException if the device refuses, with the driver's words
   */
  DeviceAdder openAdder();

  /**
   * Gives the device back; again is a no-op.
   *
   * @throws IllegalStateException while copiers, adders or allocations of it are open, naming how
   *     many
   */
  @Override
  void close();
}
