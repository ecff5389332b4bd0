package org.jofi.simulated.memory;

/**
 * The pieces of up to 64 bytes in which data is written to memory, divided at target addresses that
 * are multiples of 64, in an order drawn from the seed. Part of a transfer and reused with it.
 */
public final class Pieces {
  private long from;
  private long to;
  private long bytes;
  private long count;
  private long start;
  private long stride;
  private long next;

  /**
   * Prepares to write bytes.
   *
   * @param order any number; the same number gives the same order
   */
  public void prepare(long from, long to, long bytes, long order) {
    this.from = from;
    this.to = to;
    this.bytes = bytes;
    long lead = to & (ProcessMemory.PIECE - 1);
    count = bytes == 0 ? 0 : (lead + bytes + ProcessMemory.PIECE - 1) / ProcessMemory.PIECE;
    next = 0;
    if (count > 1) {
      start = Long.remainderUnsigned(order, count);
      stride = 1 + Long.remainderUnsigned(order >>> 17, count);
      while (gcd(stride, count) != 1) {
        stride++;
      }
    } else {
      start = 0;
      stride = 1;
    }
  }

  /** How many there are. */
  long count() {
    return count;
  }

  /** Writes the pieces that are due when {@code done} of {@code batches} batches are done. */
  public void land(int done, int batches) {
    long until = done >= batches ? count : count * done / batches;
    for (; next < until; next++) {
      landOne((start + next * stride) % count);
    }
  }

  private void landOne(long piece) {
    long line = (to & -ProcessMemory.PIECE) + piece * ProcessMemory.PIECE;
    long low = Math.max(to, line);
    long high = Math.min(to + bytes, line + ProcessMemory.PIECE);
    ProcessMemory.land(from + (low - to), low, high - low);
  }

  private static long gcd(long a, long b) {
    while (b != 0) {
      long rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
}
