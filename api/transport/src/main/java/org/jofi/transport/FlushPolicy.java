package org.jofi.transport;

/** When {@link RecvComm#iflush} reads through the NICs. */
public enum FlushPolicy {
  /** For device memory, unless the device says that it needs none. */
  AUTO,
  /** For all memory. */
  ALWAYS,
  /** Never: something else makes the data visible. */
  NEVER
}
