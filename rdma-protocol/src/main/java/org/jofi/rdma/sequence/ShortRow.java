package org.jofi.rdma.sequence;

import org.jofi.rdma.wire.EagerGrant;

/** Counts short messages in a row, so that what comes next can be guessed. One thread at a time. */
public final class ShortRow {
  /** Above, two copies cost as much as an announcement. */
  private static final int LONGEST = 32 * 1024;

  private final int longestBytes;
  private final int enough;
  private int count;

  public ShortRow(EagerGrant grant, int enough) {
    longestBytes = Math.min(grant.bytes(), LONGEST);
    this.enough = enough;
  }

  /** A message, whatever its way; whether it is a long one that ends a row. */
  public boolean ends(long lengthBytes) {
    if (lengthBytes <= longestBytes) {
      count = Math.min(count + 1, enough);
      return false;
    }
    boolean ended = isRow();
    end();
    return ended;
  }

  /** Whether enough were short, one after the other. */
  public boolean isRow() {
    return count == enough;
  }

  /** What comes next is not short. */
  public void end() {
    count = 0;
  }
}
