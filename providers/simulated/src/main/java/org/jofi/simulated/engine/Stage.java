package org.jofi.simulated.engine;

/** A stage of a transfer. */
enum Stage {
  /** The initiator's NIC starts it and reads the source. */
  DEPART,
  /** It reaches the target's NIC. */
  ARRIVE,
  /** A read copies its data from the target's memory. */
  SAMPLE,
  /** Some of its pieces are written to memory: at the target, or at the initiator for a read. */
  LAND,
  /** A read's data reaches the initiator's NIC. */
  RETURN,
  /** The arrival is reported to the target's program. */
  ANNOUNCE,
  /** The completion is reported to the initiator's program. */
  COMPLETE;

  /** Its number, used in arrays and traces. */
  @SuppressWarnings("EnumOrdinal")
  int number() {
    return ordinal();
  }
}
