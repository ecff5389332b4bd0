package org.jofi.fabric;

/**
 * Registered memory, ready for use: fi_mr(3). Any thread.
 *
 * <p>It does not own the memory. Close it before the memory is freed, when no operation that uses
 * it is in flight.
 */
public interface MemoryRegion extends AutoCloseable {

  /** {@return the request that it was registered with} */
  RegionRequest request();

  /**
   * {@return the {@code descriptor} that local posting calls take for this region: fi_mr_desc(3)}
   */
  long descriptor();

  /**
   * {@return the key that a peer needs to access it: fi_mr_key(3)} Where the application chooses
   * keys, it is the requested one.
   *
   * @throws IllegalStateException if the region has no remote access, or is closed
   * @throws FabricException with {@code ENOKEY} if the provider has no key for it yet
   */
  long key();

  /**
   * Closes it: fi_close. A second call does nothing. A key that the application chose may be used
   * again afterwards.
   *
   * @throws FabricException if the provider refuses, {@code EBUSY} while receives are posted in it
   */
  @Override
  void close();
}
