package org.jofi.transport;

/** How the receiver learns that a stripe arrived. */
public enum ImmediateDelivery {
  /** As {@link #WRITE_DATA} where the provider delivers it, else as {@link #WRITE_THEN_SEND}. */
  AUTO,
  /** Writes with immediate data: fi_writedata(3). */
  WRITE_DATA,
  /** A write that completes on delivery, then a small send with the same 32 bits. */
  WRITE_THEN_SEND
}
