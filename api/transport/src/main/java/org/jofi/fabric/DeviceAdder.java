package org.jofi.fabric;

/**
 * Adds arrays in a device's memory, on the device: nothing goes through the host. For tests and
 * tools. One thread at a time; a sum allocates nothing.
 */
public interface DeviceAdder extends AutoCloseable {

  /**
   * Adds {@code count} elements of float32 to as many others, and waits for it: afterwards the sums
   * are visible to all later work of the device, and to copies. Rounds to nearest, as Java does;
   * subnormal numbers stay what they are.
   *
   * @param sumAddress what is added to, a multiple of 4; of this device
   * @param summandAddress what is added, a multiple of 4; of this device, and either the same array
   *     or one that does not overlap it
   * @param count how many elements, 0 or more
   * @throws IllegalArgumentException if an address is no multiple of 4, or the count is negative
   * @throws FabricException if the device refuses or fails, with the driver's words; {@code
   *     ETIMEDOUT} if it takes far too long. Nothing is known of the sums then.
   */
  void addFloats(long sumAddress, long summandAddress, long count);

  /** Closes it; again is a no-op. */
  @Override
  void close();
}
