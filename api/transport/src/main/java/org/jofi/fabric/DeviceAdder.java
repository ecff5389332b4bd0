package org.jofi.fabric;

/**
 * Adds arrays in a device's memory. The device does the work, and no data goes through the host.
 * For tests and tools. One thread at a time; adding allocates nothing.
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

  /** Closes it; a second call does nothing. */
  @Override
  void close();
}
