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

  /** Where {@link #AUTO} changes at the latest, in bytes. */
  public static final long LONGEST_DOUBLING = 16 << 10;

  /**
   * The one for an array, which is not {@link #AUTO}.
   *
   * @param longestDoubling where {@link #AUTO} changes, in bytes
   */
  Algorithm of(long bytes, long longestDoubling) {
    if (this != AUTO) {
      return this;
    }
    return bytes <= longestDoubling ? DOUBLING : RING;
  }

  /** Its name as text. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
