package org.jofi.fabric;

/** What a region belongs to: fi_mr(3), FI_MR_ENDPOINT. */
public enum RegistrationScope {
  /** The domain: usable as soon as it is registered, by every endpoint of the domain. */
  DOMAIN,
  /**
   * One endpoint: the region is registered, bound to the endpoint, then enabled. It closes before
   * its endpoint.
   */
  ENDPOINT
}
