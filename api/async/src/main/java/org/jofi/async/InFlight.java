package org.jofi.async;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Transfers that are with the network, by the cookie of each one's request, which is 1 or more. */
final class InFlight {
  private static final int FEW = 16;

  private @Nullable Transfer[] transfers = new @Nullable Transfer[FEW];

  // Indices that were used and are free again.
  private int[] free = new int[FEW];
  private int freed;
  private int used;

  /** Keeps one; its cookie. */
  long add(Transfer transfer) {
    if (freed == 0 && used == transfers.length) {
      transfers = Arrays.copyOf(transfers, 2 * used);
      free = Arrays.copyOf(free, 2 * used);
    }
    int index = freed > 0 ? free[--freed] : used++;
    transfers[index] = transfer;
    return index + 1L;
  }

  /** The one that has the cookie; null if none has. */
  @Nullable Transfer of(long cookie) {
    return cookie >= 1 && cookie <= used ? transfers[(int) cookie - 1] : null;
  }

  /** It is kept no more. */
  void remove(long cookie) {
    if (of(cookie) != null) {
      int index = (int) cookie - 1;
      transfers[index] = null;
      free[freed++] = index;
    }
  }

  /** All of them, some places empty; they are kept no more. */
  @Nullable Transfer[] removeAll() {
    var all = transfers;
    transfers = new @Nullable Transfer[0];
    free = new int[0];
    freed = 0;
    used = 0;
    return all;
  }
}
