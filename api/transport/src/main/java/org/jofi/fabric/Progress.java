package org.jofi.fabric;

/** Who drives transfers: fi_domain(3), "progress". */
public enum Progress {
  UNSPECIFIED,
  /** The provider or the NIC. */
  AUTO,
  /** The application, by polling. Each side must poll to serve the other. */
  MANUAL,
  /** As manual, and control and data progress together (libfabric 2). */
  CONTROL_UNIFIED
}
