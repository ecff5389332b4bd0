package org.jofi.mr;

import java.util.ArrayDeque;
import org.agrona.collections.LongHashSet;

/**
 * Application-chosen keys of one domain, each live at most once. Any thread.
 *
 * <p>Keys are used again as late as possible, first given back first: a peer's late write to a dead
 * region should meet no region rather than another's. Past {@link #RESTING} resting keys the oldest
 * serve again, so that the pool's memory is bounded by the regions that are open.
 */
final class KeyPool implements KeySource {
  /** Keys that rest before the oldest of them is used again, while fresh ones are left. */
  static final int RESTING = 4096;

  private final String domain;
  private final int widthBytes;
  private final long fresh;
  private final LongHashSet live = new LongHashSet();
  private final ArrayDeque<Long> resting = new ArrayDeque<>();
  private long next;

  /**
   * @param domain what errors call the domain
   * @param widthBytes how wide keys are, 1 to 8
   */
  KeyPool(String domain, int widthBytes) {
    if (widthBytes < 1 || widthBytes > 8) {
      throw new IllegalArgumentException(
          "%s negotiated keys of %d bytes; 1 to 8 can be served".formatted(domain, widthBytes));
    }
    this.domain = domain;
    this.widthBytes = widthBytes;
    // Of the widest, half are enough; and all ones is libfabric's "no key" (FI_KEY_NOTAVAIL).
    this.fresh = widthBytes == 8 ? Long.MAX_VALUE : 1L << (8 * widthBytes);
  }

  @Override
  public synchronized long take() {
    long key;
    if (next < fresh && resting.size() <= RESTING) {
      key = next++;
    } else if (!resting.isEmpty()) {
      key = resting.removeFirst();
    } else {
      throw new KeysExhaustedException(domain, widthBytes, live.size());
    }
    live.add(key);
    return key;
  }

  @Override
  public synchronized void giveBack(long key) {
    if (!live.remove(key)) {
      throw new IllegalStateException("key 0x%x of %s is not taken".formatted(key, domain));
    }
    resting.addLast(key);
  }

  synchronized int live() {
    return live.size();
  }
}
