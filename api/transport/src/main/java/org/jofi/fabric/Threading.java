package org.jofi.fabric;

/** Which calls may overlap: fi_domain(3), "threading". */
public enum Threading {
  UNSPECIFIED,
  /** Any. */
  SAFE,
  /** Those on different objects (libfabric before 2.0). */
  FID,
  /** Those on different domains. */
  DOMAIN,
  /** Those that report to different completion queues. */
  COMPLETION,
  /** Those on different endpoints (libfabric before 2.0). */
  ENDPOINT
}
