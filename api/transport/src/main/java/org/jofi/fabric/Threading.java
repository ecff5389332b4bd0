package org.jofi.fabric;

/** Which calls may run at the same time: fi_domain(3), "threading". */
public enum Threading {
  /** Not known; as a hint, it leaves the choice to the provider. */
  UNSPECIFIED,
  /** Any calls. */
  SAFE,
  /** Calls on different objects (libfabric before 2.0). */
  FID,
  /** Calls on different domains. */
  DOMAIN,
  /** Calls whose completions go to different completion queues. */
  COMPLETION,
  /** Calls on different endpoints (libfabric before 2.0). */
  ENDPOINT
}
