package org.jofi.mr.key;

import java.util.ArrayDeque;
import org.agrona.collections.LongHashSet;

/**
 * The keys of one domain where the application chooses them. No two open regions have the same key.
 * Any thread.
 *
 * <p>A key is reused as late as possible, and keys in the order in which they were given back. So a
 * late write of a peer to a closed region most likely finds no region, instead of another one with
 * the same key. When more than {@link #RESTING} keys are waiting, the oldest is reused, so that the
 * pool's memory is bounded by the number of open regions.
 */
final class KeyPool implements KeySource {
  /**
   * How many keys wait before the oldest of them is reused, while there are keys that were never
   * used.
   */
  static final int RESTING = 4096;

  private final String domain;
  private final int widthBytes;
  private final long fresh;
  private final LongHashSet live = new LongHashSet();
  private final ArrayDeque<Long> resting = new ArrayDeque<>();
  private long next;

  /**
   * @param domain the domain's name in error messages
   * @param widthBytes how wide keys are, 1 to 8
   */
  KeyPool(String domain, int widthBytes) {
    if (widthBytes < 1 || widthBytes > 8) {
      throw new IllegalArgumentException(
          "%s negotiated keys of %d bytes; 1 to 8 can be served".formatted(domain, widthBytes));
    }
    this.domain = domain;
    this.widthBytes = widthBytes;
    // Half of the 8-byte keys are enough, and this leaves out all ones, libfabric's "no key"
    // (FI_KEY_NOTAVAIL).
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
