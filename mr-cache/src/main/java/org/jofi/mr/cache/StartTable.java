package org.jofi.mr.cache;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A hash table that finds a registration by the address that it starts at, usually within one cache
 * line. It is fast because most requests are for memory that was requested before. Lookups take no
 * lock; one writer at a time.
 *
 * <p>Its answers are hints: while it is being written, a lookup may find nothing, or a registration
 * that was just removed. A caller that finds nothing asks the {@link IntervalIndex}, and a closed
 * registration cannot be leased.
 */
final class StartTable {
  /**
   * Open addressing with at most a quarter of the slots in use, so that the first probe nearly
   * always decides.
   */
  private static final int ROOM = 4;

  private static final int LEAST = 64;
  private static final long GOLDEN = 0x9e37_79b9_7f4a_7c15L;

  private volatile AtomicReferenceArray<@Nullable CachedRegistration> slots =
      new AtomicReferenceArray<>(LEAST);
  private int size;

  /**
   * The registration that starts at this address; null if there is none or it was missed. Any
   * thread.
   */
  @Nullable CachedRegistration find(long first) {
    AtomicReferenceArray<@Nullable CachedRegistration> now = slots;
    int slot = home(first, now.length());
    CachedRegistration found = now.getAcquire(slot);
    while (found != null && found.first() != first) {
      slot = (slot + 1) & (now.length() - 1);
      found = now.getAcquire(slot);
    }
    return found;
  }

  private static int home(long first, int length) {
    return (int) ((first * GOLDEN) >>> (64 - Integer.numberOfTrailingZeros(length)));
  }

  /** Adds a registration. The table must have none that starts at the same address. */
  void insert(CachedRegistration registration) {
    AtomicReferenceArray<@Nullable CachedRegistration> now = slots;
    if (++size > now.length() / ROOM) {
      AtomicReferenceArray<@Nullable CachedRegistration> grown =
          new AtomicReferenceArray<>(2 * now.length());
      for (int slot = 0; slot < now.length(); slot++) {
        CachedRegistration moved = now.getPlain(slot);
        if (moved != null) {
          put(grown, moved);
        }
      }
      now = grown;
    }
    put(now, registration);
    slots = now;
  }

  private static void put(
      AtomicReferenceArray<@Nullable CachedRegistration> into, CachedRegistration registration) {
    int slot = home(registration.first(), into.length());
    while (into.getPlain(slot) != null) {
      slot = (slot + 1) & (into.length() - 1);
    }
    into.setRelease(slot, registration);
  }

  /** Removes a registration, if it is in the table. */
  void remove(CachedRegistration registration) {
    AtomicReferenceArray<@Nullable CachedRegistration> now = slots;
    int mask = now.length() - 1;
    int slot = home(registration.first(), now.length());
    for (CachedRegistration at = now.getPlain(slot); at != registration; at = now.getPlain(slot)) {
      if (at == null) {
        return;
      }
      slot = (slot + 1) & mask;
    }
    now.setRelease(slot, null);
    size--;
    // Later entries may be where they are because this slot was taken.
    for (int next = (slot + 1) & mask; ; next = (next + 1) & mask) {
      CachedRegistration displaced = now.getPlain(next);
      if (displaced == null) {
        return;
      }
      now.setRelease(next, null);
      put(now, displaced);
    }
  }
}
