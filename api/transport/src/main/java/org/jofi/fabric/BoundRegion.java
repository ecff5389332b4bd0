package org.jofi.fabric;

/**
 * A memory region that is bound to its endpoint but not enabled yet, so it has no key: fi_mr(3).
 * Any thread.
 */
public interface BoundRegion extends AutoCloseable {

  /**
   * Enables the region: fi_mr_enable(3). On success the returned object owns the region, and this
   * one can no longer be used.
   *
   * @return the region, ready for use
   * @throws FabricException if the provider refuses, {@code ENOSPC} when the NIC is out of
   *     resources; the region stays bound, and the caller still has to close it
   * @throws IllegalStateException if this region is already enabled or closed, or the endpoint is
   *     closed
   */
  MemoryRegion enable();

  /** Closes the region, unless {@link #enable} has succeeded. A second call does nothing. */
  @Override
  void close();
}
