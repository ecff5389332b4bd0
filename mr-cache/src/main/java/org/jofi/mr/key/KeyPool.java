package org.jofi.mr.key;

import java.util.ArrayDeque;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.LongHashSet;

/**
 * The keys of one domain where the application chooses them. No two open regions have the same key.
 * Any thread.
 *
 * <p>Keys are drawn at random, since whoever reaches the NIC and knows a key can use the region.
 * Those that were given back rest: a late write of a peer to a closed region most likely finds no
 * region then, instead of another one with the same key. When more than {@link #RESTING} rest, or
 * no other key is left, the one that rested longest is reused, so that the pool's memory is bounded
 * by the number of open regions.
 */
final class KeyPool implements KeySource {
  /**
   * How many keys wait before the oldest of them is reused, while there are keys that were never
   * used.
   */
  static final int RESTING = 4096;

  private final String domain;
  private final int widthBytes;
  private final RandomGenerator random;
  private final long first;
  private final long bound;
  private final LongHashSet live = new LongHashSet();
  private final ArrayDeque<Long> resting = new ArrayDeque<>();

  // The keys are a deck of cards: those from next on were never taken. Taking one swaps any of them
  // with the next. Only cards that are out of their place are listed.
  private final Long2LongHashMap displaced = new Long2LongHashMap(Long.MAX_VALUE);
  private long next;

  /**
   * @param domain the domain's name in error messages
   * @param widthBytes how wide keys are, 1 to 8
   * @param random any 64 bits, which nobody can guess
   */
  KeyPool(String domain, int widthBytes, LongSupplier random) {
    if (widthBytes < 1 || widthBytes > 8) {
      throw new IllegalArgumentException(
          "%s negotiated keys of %d bytes; 1 to 8 can be served".formatted(domain, widthBytes));
    }
    this.domain = domain;
    this.widthBytes = widthBytes;
    this.random = random::getAsLong;
    // Of 8 bytes, all but all ones, libfabric's "no key" (FI_KEY_NOTAVAIL).
    first = widthBytes == 8 ? Long.MIN_VALUE : 0;
    bound = widthBytes == 8 ? Long.MAX_VALUE : 1L << (8 * widthBytes);
    next = first;
  }

  @Override
  public synchronized long take() {
    long key;
    if (next < bound && resting.size() <= RESTING) {
      key = draw() - first;
    } else if (!resting.isEmpty()) {
      key = resting.removeFirst();
    } else {
      throw new KeysExhaustedException(domain, widthBytes, live.size());
    }
    live.add(key);
    return key;
  }

  private long draw() {
    long place = random.nextLong(next, bound);
    long drawn = displaced.getOrDefault(place, place);
    long moved = displaced.getOrDefault(next, next);
    displaced.remove(next);
    if (place != next) {
      displaced.put(place, moved);
    }
    next++;
    return drawn;
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
