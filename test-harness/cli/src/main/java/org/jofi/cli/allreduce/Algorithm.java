package org.jofi.cli.allreduce;

import java.util.Locale;

/** How ranks sum an array. */
public enum Algorithm {
  /** {@link #DOUBLING} for short arrays, {@link #RING} for others. */
  AUTO,
  /** {@link RingAllReduce}: the fewest bytes, in 2 (ranks - 1) steps. */
  RING,
  /** {@link DoublingAllReduce}: the fewest steps, each with the whole array. */
  DOUBLING;

  /** The longest array that {@link #AUTO} doubles, in bytes. */
  public static final long LONGEST_DOUBLING = 32 << 10;

  /** The one for an array of this length in bytes, which is not {@link #AUTO}. */
  Algorithm of(long bytes) {
    if (this != AUTO) {
      return this;
    }
    return bytes <= LONGEST_DOUBLING ? DOUBLING : RING;
  }

  /** Its name as text. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
