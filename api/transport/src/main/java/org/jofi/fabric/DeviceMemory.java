package org.jofi.fabric;

/**
 * The memory of one open device. Any thread. Addresses are device addresses: this process must
 * never read or write through them.
 *
 * <p>Calls do not change the driver's current context of the calling thread. They may be made while
 * a stream of the device is being captured.
 */
public interface DeviceMemory extends AutoCloseable {

  /** {@return which kind of memory it is} */
  MemoryKind kind();

  /** {@return what the device is and can do} */
  DeviceProbe.Device description();

  /**
   * Allocates memory of the device; its content is undefined.
   *
   * @param bytes its length, at least 1
   * @return its address, never 0
   * @throws FabricException {@code ENOMEM} if there is not enough memory
   */
  long allocate(long bytes);

  /**
   * Frees memory that {@link #allocate} returned.
   *
   * @param address what {@link #allocate} returned, not an address within the memory
   * @throws IllegalArgumentException if it returned no such address, or the memory is already freed
   */
  void free(long address);

  /**
   * {@return the allocation that an address lies in}
   *
   * @param address of any byte of it, in device memory or in pinned host memory
   * @throws FabricException {@code EFAULT} if the driver does not know the address, {@code
   *     EOPNOTSUPP} if the memory is managed, and so may move
   */
  DeviceAllocation allocation(long address);

  /**
   * Exports device memory as a dma-buf, for {@link RegionRequest#withDmaBuf}. The caller closes the
   * file descriptor with {@link #closeDmaBuf}, when the region is open or was refused.
   *
   * @param address first byte of the range
   * @param lengthBytes its length; the exported piece may be longer, and begin earlier
   * @return the dma-buf, and where in it the address is
   * @throws FabricException {@code EOPNOTSUPP} if the device or the kernel has no dma-buf
   */
  DmaBuf exportDmaBuf(long address, long lengthBytes);

  /**
   * Closes the file descriptor of an exported dma-buf: close(2).
   *
   * @param exported what {@link #exportDmaBuf} returned; to be closed once only
   */
  void closeDmaBuf(DmaBuf exported);

  /**
   * Pins host memory, so that the device can copy from and to it directly and at full speed.
   *
   * @param hostAddress first byte of the range
   * @param bytes its length
   * @throws FabricException {@code ENOMEM} if the limit on pinned memory does not allow it, {@code
   *     EBUSY} if part of it is already pinned
   */
  void pin(long hostAddress, long bytes);

  /**
   * Undoes {@link #pin}.
   *
   * @param hostAddress the address that was pinned
   */
  void unpin(long hostAddress);

  /**
   * Makes all earlier writes of NICs into the device's memory visible to the device, if {@link
   * DeviceProbe.Device#flush} is {@link DeviceProbe.FlushCall#HOST}.
   *
   * @return 0, or a negative {@link FabricErrno}: {@code -EOPNOTSUPP} if the device cannot do it
   */
  int flushRemoteWrites();

  /**
   * Copies to host memory and waits until it is done. For tests and tools.
   *
   * @param deviceAddress first byte to copy from, on the device
   * @param hostAddress first byte to copy to, in host memory
   * @param bytes how many
   */
  void copyToHost(long deviceAddress, long hostAddress, long bytes);

  /**
   * Copies from host memory and waits until it is done. For tests and tools.
   *
   * @param hostAddress first byte to copy from, in host memory
   * @param deviceAddress first byte to copy to, on the device
   * @param bytes how many
   */
  void copyFromHost(long hostAddress, long deviceAddress, long bytes);

  /**
   * Opens a queue of asynchronous copies. The caller closes it before it closes this.
   *
   * @param copies how many may be in progress at once, at least 1
   * @return the queue, with no copy in it
   */
  DeviceCopier openCopier(int copies);

  /**
   * Opens an object that adds and copies arrays on the device. The caller closes it before it
   * closes this.
   *
   * @return the adder, to be closed before this
   * @throws FabricException if the device refuses, with the driver's text
   */
  DeviceAdder openAdder();

  /**
   * Closes the device; a second call does nothing.
   *
   * @throws IllegalStateException while copiers, adders or allocations of it are open; the message
   *     says how many
   */
  @Override
  void close();
}
