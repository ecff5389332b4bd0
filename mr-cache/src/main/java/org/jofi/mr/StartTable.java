package org.jofi.mr;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Finds a registration by the address it starts at, in one cache line more often than not: what is
 * asked for is mostly what was asked for before. Lookups take no lock; one writer at a time.
 *
 * <p>A hint, and no more: while it is written to, a lookup may find nothing, or what was just taken
 * out. Who finds nothing asks the {@link IntervalIndex}, and nobody gets a lease of what is closed.
 */
final class StartTable {
  /** Open addressing, at most a quarter full: the first probe nearly always decides. */
  private static final int ROOM = 4;

  private static final int LEAST = 64;
  private static final long GOLDEN = 0x9e37_79b9_7f4a_7c15L;

  private volatile AtomicReferenceArray<@Nullable DataRegistration> slots =
      new AtomicReferenceArray<>(LEAST);
  private int size;

  /** The registration that starts there; null if there is none, or it was not seen. Any thread. */
  @Nullable DataRegistration find(long first) {
    AtomicReferenceArray<@Nullable DataRegistration> now = slots;
    int slot = home(first, now.length());
    DataRegistration found = now.getAcquire(slot);
    while (found != null && found.first() != first) {
      slot = (slot + 1) & (now.length() - 1);
      found = now.getAcquire(slot);
    }
    return found;
  }

  private static int home(long first, int length) {
    return (int) ((first * GOLDEN) >>> (64 - Integer.numberOfTrailingZeros(length)));
  }

  /** Adds a registration; none that starts there may be in it. */
  void insert(DataRegistration registration) {
    AtomicReferenceArray<@Nullable DataRegistration> now = slots;
    if (++size > now.length() / ROOM) {
      AtomicReferenceArray<@Nullable DataRegistration> grown =
          new AtomicReferenceArray<>(2 * now.length());
      for (int slot = 0; slot < now.length(); slot++) {
        DataRegistration moved = now.getPlain(slot);
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
      AtomicReferenceArray<@Nullable DataRegistration> into, DataRegistration registration) {
    int slot = home(registration.first(), into.length());
    while (into.getPlain(slot) != null) {
      slot = (slot + 1) & (into.length() - 1);
    }
    into.setRelease(slot, registration);
  }

  /** Takes a registration out, if it is in it. */
  void remove(DataRegistration registration) {
    AtomicReferenceArray<@Nullable DataRegistration> now = slots;
    int mask = now.length() - 1;
    int slot = home(registration.first(), now.length());
    for (DataRegistration at = now.getPlain(slot); at != registration; at = now.getPlain(slot)) {
      if (at == null) {
        return;
      }
      slot = (slot + 1) & mask;
    }
    now.setRelease(slot, null);
    size--;
    // What came after may have been displaced by it.
    for (int next = (slot + 1) & mask; ; next = (next + 1) & mask) {
      DataRegistration displaced = now.getPlain(next);
      if (displaced == null) {
        return;
      }
      now.setRelease(next, null);
      put(now, displaced);
    }
  }
}
