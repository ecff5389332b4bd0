package org.jofi.fabric;

/**
 * A registered memory region that cannot be used until it is bound to an endpoint and enabled:
 * fi_mr(3), FI_MR_ENDPOINT. Any thread.
 */
public interface UnboundRegion extends AutoCloseable {

  /**
   * Binds the region to its one endpoint: fi_mr_bind(3). On success the returned object owns the
   * region, and this one can no longer be used.
   *
   * @param endpoint an open endpoint of the region's domain
   * @return the region, bound but not enabled yet
   * @throws FabricException if the provider refuses; the region stays unbound, and the caller still
   *     has to close it
   * @throws IllegalArgumentException if the endpoint belongs to another domain
   * @throws IllegalStateException if this region is already bound or closed, or the endpoint is
   *     closed
   */
  BoundRegion bind(Endpoint endpoint);

  /** Closes the region, unless {@link #bind} has succeeded. A second call does nothing. */
  @Override
  void close();
}
