package org.jofi.rdma.schedule;

import org.jofi.rdma.wire.ProtocolLimits;

/** Where the stripes of one message go; used again for the next message. One thread at a time. */
public final class StripePlan {
  private final int[] rails;
  private final long[] offsets;
  private final long[] lengths;
  private int stripes;

  /**
   * @param most stripes at most, 1 to {@link ProtocolLimits#MAX_STRIPES}
   */
  public StripePlan(int most) {
    if (most < 1 || most > ProtocolLimits.MAX_STRIPES) {
      throw new IllegalArgumentException("1 to 32 stripes, not " + most);
    }
    rails = new int[most];
    offsets = new long[most];
    lengths = new long[most];
  }

  /** How many, in the order of their offsets. */
  public int stripes() {
    return stripes;
  }

  /** The rail that a stripe goes over. */
  public int rail(int stripe) {
    return rails[stripe];
  }

  /** Where in the message it starts: a multiple of 128, if it was cut. */
  public long offset(int stripe) {
    return offsets[stripe];
  }

  /** Its length; 0 only for a message of 0 bytes. */
  public long length(int stripe) {
    return lengths[stripe];
  }

  /** Sends a stripe over another rail, such as after its own died. */
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

  /** One stripe more; its number. */
  public int add(int rail, long offset, long length) {
    rails[stripes] = rail;
    offsets[stripes] = offset;
    lengths[stripes] = length;
    return stripes++;
  }

  /** No stripes. */
  public void clear() {
    stripes = 0;
  }
}
