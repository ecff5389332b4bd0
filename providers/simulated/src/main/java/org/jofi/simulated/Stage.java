package org.jofi.simulated;

/** What is due for a transfer. */
enum Stage {
  /** The initiator's NIC takes it up and reads the source. */
  DEPART,
  /** It reaches the target's NIC. */
  ARRIVE,
  /** A read takes its data out of the target's memory. */
  SAMPLE,
  /** Some of its pieces land: at the target, or for a read at the initiator. */
  LAND,
  /** A read's data reaches the initiator's NIC. */
  RETURN,
  /** The arrival is told to the target's program. */
  ANNOUNCE,
  /** The initiator's program is told. */
  COMPLETE;

  /** Its number: arrays and traces go by it. */
  @SuppressWarnings("EnumOrdinal")
  int number() {
    return ordinal();
  }
}
