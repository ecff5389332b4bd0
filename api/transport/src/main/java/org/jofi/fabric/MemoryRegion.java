package org.jofi.fabric;

/**
 * Registered memory, ready for use: fi_mr(3). Any thread.
 *
 * <p>It does not own the memory. Close it when nothing that uses it is in flight, before the memory
 * is freed.
 */
public interface MemoryRegion extends AutoCloseable {

  /** What was asked for. */
  RegionRequest request();

  /** What the posting calls of this side take as {@code descriptor}: fi_mr_desc(3). */
  long descriptor();

  /**
   * What a peer needs to reach it: fi_mr_key(3). Where the application chooses keys, the requested
   * one.
   *
   * @throws IllegalStateException if the region has no remote access
   */
  long key();

  /**
   * Closes it: fi_close. Again is a no-op. An application's key may be used again after this.
   *
   * @throws FabricException if the provider refuses, {@code EBUSY} while receives are posted in it
   */
  @Override
  void close();
}
