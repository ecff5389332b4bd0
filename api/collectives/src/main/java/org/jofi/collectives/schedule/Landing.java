package org.jofi.collectives.schedule;

/** Scratch memory that chunks land in, one after the other, in slots that are used again. */
final class Landing {
  private final long base;
  private final long slotLength;
  private final int slots;
  private int next;

  Landing(Steps steps, long slotLength, int slots) {
    base = steps.scratch(slotLength * slots);
    this.slotLength = slotLength;
    this.slots = slots;
  }

  /** The first element of the next slot. */
  long next() {
    long at = base + next * slotLength;
    next = (next + 1) % slots;
    return at;
  }
}
