package org.jofi.fabric;

/** What drives transfers forward: fi_domain(3), "progress". */
public enum Progress {
  /** The provider reports none that is known here. */
  UNSPECIFIED,
  /** The provider or the NIC. */
  AUTO,
  /** The application, by polling. Both the initiator and the target of a transfer have to poll. */
  MANUAL,
  /** As {@link #MANUAL}, and one poll drives both control and data progress (libfabric 2). */
  CONTROL_UNIFIED
}
