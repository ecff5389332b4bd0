package org.jofi.transport;

/** How the receiver learns that a stripe arrived. */
public enum ImmediateDelivery {
  /**
   * {@link #WRITE_DATA} if the provider delivers immediate data with writes, else {@link
   * #WRITE_THEN_SEND}.
   */
  AUTO,
  /** Writes with immediate data: fi_writedata(3). */
  WRITE_DATA,
  /** A write that completes on delivery, then a small send with the same 32 bits. */
  WRITE_THEN_SEND
}
