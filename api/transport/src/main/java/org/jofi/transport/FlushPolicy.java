package org.jofi.transport;

/** When {@link RecvComm#iflush} reads through the NICs. */
public enum FlushPolicy {
  /** For device memory, unless the device reports that it needs no flush. */
  AUTO,
  /** For all memory. */
  ALWAYS,
  /** Never: something else makes the data visible. */
  NEVER
}
