package org.jofi.collectives.schedule;

/** Memory of a rank that a schedule uses. */
public enum Place {
  /** What the caller gives; it is only read, unless it is the output as well. */
  INPUT,
  /**
   * Where the result goes. What it held before is of no meaning, unless it is the input as well.
   */
  OUTPUT,
  /** Memory of the schedule's own, from {@link Steps#scratch}. */
  SCRATCH
}
