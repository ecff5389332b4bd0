package org.jofi.rdma.schedule;

import org.jofi.rdma.wire.ProtocolLimits;

/**
 * The stripes of one message: filled by a {@link StripeScheduler}, and used again for the next
 * message. One thread at a time.
 */
public final class StripePlan {
  private final int[] rails = new int[ProtocolLimits.MAX_RAILS];
  private final long[] offsets = new long[ProtocolLimits.MAX_RAILS];
  private final long[] lengths = new long[ProtocolLimits.MAX_RAILS];
  private int stripes;

  /** How many: 1 to 8, in the order of their offsets; 0 if no rail was left. */
  public int stripes() {
    return stripes;
  }

  /** The rail that a stripe goes over; no two of a message share one. */
  public int rail(int stripe) {
    return rails[stripe];
  }

  /** Where in the message it starts: a multiple of 128. */
  public long offset(int stripe) {
    return offsets[stripe];
  }

  /** Its length; 0 only for a message of 0 bytes. */
  public long length(int stripe) {
    return lengths[stripe];
  }

  /**
   * Sends a stripe over another rail, such as after its own died. Two stripes may share a rail
   * then.
   */
  public void moveTo(int stripe, int rail) {
    if (stripe < 0 || stripe >= stripes) {
      throw new IndexOutOfBoundsException("no stripe %d of %d".formatted(stripe, stripes));
    }
    rails[stripe] = rail;
  }

  /** The same for each of so many rails: a stripe of that length, at offset 0. */
  public void onEveryRail(int count, long lengthBytes) {
    clear();
    for (int rail = 0; rail < count; rail++) {
      add(rail, 0, lengthBytes);
    }
  }

  /** A stripe that is placed by itself, over a rail that is chosen later. */
  public void set(int stripe, long offset, long lengthBytes) {
    offsets[stripe] = offset;
    lengths[stripe] = lengthBytes;
    stripes = Math.max(stripes, stripe + 1);
  }

  /** No stripes. */
  public void clear() {
    stripes = 0;
  }

  void add(int rail, long offset, long length) {
    rails[stripes] = rail;
    offsets[stripes] = offset;
    lengths[stripes] = length;
    stripes++;
  }
}
