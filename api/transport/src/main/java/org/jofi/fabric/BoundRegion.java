package org.jofi.fabric;

/** Bound to its endpoint, but not enabled: it has no key yet. fi_mr(3). Any thread. */
public interface BoundRegion extends AutoCloseable {

  /**
   * Enables it: fi_mr_enable(3). On success this object is used up and the returned one owns the
   * region.
   *
   * @throws FabricException if the provider refuses, {@code ENOSPC} when the NIC is out of
   *     resources; the region stays bound, and the caller's to close
   * @throws IllegalStateException if this was enabled already or closed, or the endpoint is closed
   */
  MemoryRegion enable();

  /** Closes the region unless {@link #enable} took it; again is a no-op. */
  @Override
  void close();
}
