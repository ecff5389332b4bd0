package org.jofi.fabric;

/**
 * Adds arrays in a device's memory, and copies them there. The device does the work, and no data
 * goes through the host. One thread at a time; adding and copying allocate nothing.
 */
public interface DeviceAdder extends AutoCloseable {

  /**
   * Adds one array of float32 to another, element by element, and waits until it is done.
   * Afterwards the sums are visible to copies and to all later work of the device. Sums are rounded
   * to nearest, as in Java, and subnormal numbers are kept.
   *
   * @param sumAddress address of the array that is added to and takes the sums, a multiple of 4;
   *     memory of this device
   * @param summandAddress address of the array that is added, a multiple of 4; memory of this
   *     device, and either the same array or one that does not overlap it
   * @param count how many elements, 0 or more
   * @throws IllegalArgumentException if an address is not a multiple of 4, or the count is negative
   * @throws FabricException if the device refuses or fails, with the driver's text; {@code
   *     ETIMEDOUT} if it takes far too long. The sums are undefined then.
   */
  void addFloats(long sumAddress, long summandAddress, long count);

  /**
   * Copies bytes within the device, and waits until it is done. Afterwards they are visible to all
   * later work of the device.
   *
   * @param fromAddress first byte to copy from; memory of this device
   * @param toAddress first byte to copy to; memory of this device that does not overlap the other
   * @param bytes how many, 0 or more
   * @throws IllegalArgumentException if the number is negative
   * @throws FabricException as {@link #addFloats}; the target's content is undefined then
   */
  void copy(long fromAddress, long toAddress, long bytes);

  /** Closes it; a second call does nothing. */
  @Override
  void close();
}
