package org.jofi.rdma.schedule;

import org.jofi.rdma.wire.ProtocolLimits;

/**
 * Which control rail the next control message goes over: each in turn, but those excluded. Its turn
 * is its own, so that control messages never move data to other rails. One thread at a time.
 */
public final class ControlRotation {
  private final int rails;
  private int excluded;
  private int next;

  /**
   * @param rails 1 to 8
   */
  public ControlRotation(int rails) {
    if (rails < 1 || rails > ProtocolLimits.MAX_RAILS) {
      throw new IllegalArgumentException("1 to 8 control rails, not " + rails);
    }
    this.rails = rails;
  }

  /** The rail for the next control message; -1 if every one is excluded. */
  public int next() {
    for (int tries = 0; tries < rails; tries++) {
      int rail = next;
      next = rail + 1 == rails ? 0 : rail + 1;
      if ((excluded & 1 << rail) == 0) {
        return rail;
      }
    }
    return -1;
  }

  /** Leaves a rail out from now on. */
  public void exclude(int rail) {
    excluded |= 1 << rail;
  }

  /** Takes a rail in again. */
  public void restore(int rail) {
    excluded &= ~(1 << rail);
  }
}
