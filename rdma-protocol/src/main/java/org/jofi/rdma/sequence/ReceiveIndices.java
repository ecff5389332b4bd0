package org.jofi.rdma.sequence;

import org.jofi.rdma.wire.ProtocolLimits;

/**
 * Indices of receives, and the 10 bits of them that immediate data carries. Receives, each of a
 * group for itself, are counted per communicator from 1, and never wrap.
 */
public final class ReceiveIndices {
  /** The first receive's. */
  public static final long FIRST = 1;

  /** What {@link #expand} says for bits that stand for no receive of the window. */
  public static final long OUTSIDE = -1;

  private static final int MASK = (1 << ProtocolLimits.INDEX_BITS) - 1;

  private ReceiveIndices() {}

  /**
   * The index that bits stand for, within a window that is narrower than 1024.
   *
   * @param bits 10 bits
   * @param from the window's first index
   * @param to the index after its last
   * @return the index, or {@link #OUTSIDE}
   */
  public static long expand(int bits, long from, long to) {
    assert to - from <= MASK : "window of " + (to - from);
    long index = from + ((bits - from) & MASK);
    return index < to ? index : OUTSIDE;
  }
}
