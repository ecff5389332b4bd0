package org.jofi.fabric;

/**
 * Registered, but of no use until it is bound to an endpoint and enabled: fi_mr(3), FI_MR_ENDPOINT.
 * Any thread.
 */
public interface UnboundRegion extends AutoCloseable {

  /**
   * Binds it to its one endpoint: fi_mr_bind(3). On success this object is used up and the returned
   * one owns the region.
   *
   * @throws FabricException if the provider refuses; the region stays unbound, and the caller's to
   *     close
   * @throws IllegalArgumentException if the endpoint is of another domain
   * @throws IllegalStateException if this was bound already or closed, or the endpoint is closed
   */
  BoundRegion bind(Endpoint endpoint);

  /** Closes the region unless {@link #bind} took it; again is a no-op. */
  @Override
  void close();
}
