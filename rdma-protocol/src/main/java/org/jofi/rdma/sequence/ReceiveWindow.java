package org.jofi.rdma.sequence;

import org.jofi.rdma.wire.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * The receives of a communicator that are in flight: at most 256, and none is posted before the one
 * 256 earlier has completed, whatever completed since. So an index's place in tables and in the
 * mailbox, index modulo 256, is never shared.
 *
 * @param <T> a request, which may have several indices
 */
public class ReceiveWindow<T> {
  /** The first receive's index; they are counted per communicator, and never wrap. */
  public static final long FIRST = 1;

  /** {@link #indexOf}: the bits stand for no receive in flight. */
  public static final long OUTSIDE = -1;

  private static final int SLOTS = ProtocolLimits.RECEIVE_WINDOW;
  private static final int MASK = (1 << ProtocolLimits.INDEX_BITS) - 1;

  @SuppressWarnings("unchecked")
  private final @Nullable T[] inFlight = (@Nullable T[]) new @Nullable Object[SLOTS];

  private long oldest = FIRST;
  private long next = FIRST;

  public ReceiveWindow() {}

  public boolean hasRoom(int count) {
    return next - oldest + count <= SLOTS;
  }

  /** Gives a request so many indices, for which there is room; the first of them. */
  public final long post(T request, int count) {
    assert hasRoom(count) : count;
    long first = next;
    for (; next < first + count; next++) {
      inFlight[slot(next)] = request;
    }
    return first;
  }

  /** A receive completed; false if it was never posted, or completed already. */
  public final boolean complete(long index) {
    if (inFlight(index) == null) {
      return false;
    }
    inFlight[slot(index)] = null;
    while (oldest < next && inFlight[slot(oldest)] == null) {
      oldest++;
    }
    return true;
  }

  /** The request that a receive is of which is posted and has not completed; else null. */
  public final @Nullable T inFlight(long index) {
    return index >= oldest && index < next ? inFlight[slot(index)] : null;
  }

  /** The receive in flight that the 10 bits of immediate data stand for, or {@link #OUTSIDE}. */
  public final long indexOf(int bits) {
    long index = expand(bits, oldest);
    return inFlight(index) == null ? OUTSIDE : index;
  }

  /** The first index of those 10 bits, from that one on. */
  static long expand(int bits, long from) {
    return from + ((bits - from) & MASK);
  }

  static int slot(long index) {
    return (int) index & (SLOTS - 1);
  }

  /** The index of the oldest receive that has not completed; {@link #next} if there is none. */
  public final long oldest() {
    return oldest;
  }

  public final long next() {
    return next;
  }
}
