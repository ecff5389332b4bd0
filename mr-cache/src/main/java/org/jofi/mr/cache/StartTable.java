package org.jofi.mr.cache;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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
   * Open addressing with at most half of the slots in use: the first probe mostly decides, and the
   * table of ten thousand still leaves room for them in a core's cache.
   */
  private static final int ROOM = 2;

  private static final int LEAST = 64;
  private static final VarHandle SLOT =
      MethodHandles.arrayElementVarHandle(CachedRegistration[].class);
  private static final long GOLDEN = 0x9e37_79b9_7f4a_7c15L;

  private volatile @Nullable CachedRegistration[] slots = new CachedRegistration[LEAST];
  private int size;

  /**
   * The registration that starts at this address; null if there is none or it was missed. Any
   * thread.
   */
  @Nullable CachedRegistration find(long first) {
    @Nullable CachedRegistration[] now = slots;
    int slot = home(first, now.length);
    CachedRegistration found = at(now, slot);
    while (found != null && found.first() != first) {
      slot = (slot + 1) & (now.length - 1);
      found = at(now, slot);
    }
    return found;
  }

  private static @Nullable CachedRegistration at(@Nullable CachedRegistration[] slots, int slot) {
    return (CachedRegistration) SLOT.getAcquire(slots, slot);
  }

  /**
   * Where a registration belongs in a table of that length, a power of two. Buffers mostly lie at
   * equal distances; the product's high bits alone put those of 64 KiB in clusters.
   */
  static int home(long first, int length) {
    long mixed = first * GOLDEN;
    return (int) (mixed ^ (mixed >>> 32)) & (length - 1);
  }

  /** Adds a registration. The table must have none that starts at the same address. */
  void insert(CachedRegistration registration) {
    @Nullable CachedRegistration[] now = slots;
    if (++size > now.length / ROOM) {
      @Nullable CachedRegistration[] grown = new CachedRegistration[2 * now.length];
      for (int slot = 0; slot < now.length; slot++) {
        CachedRegistration moved = now[slot];
        if (moved != null) {
          put(grown, moved);
        }
      }
      now = grown;
    }
    put(now, registration);
    slots = now;
  }

  private static void put(@Nullable CachedRegistration[] into, CachedRegistration registration) {
    int slot = home(registration.first(), into.length);
    while (into[slot] != null) {
      slot = (slot + 1) & (into.length - 1);
    }
    SLOT.setRelease(into, slot, registration);
  }

  /** Removes a registration, if it is in the table. */
  void remove(CachedRegistration registration) {
    @Nullable CachedRegistration[] now = slots;
    int mask = now.length - 1;
    int slot = home(registration.first(), now.length);
    for (CachedRegistration at = now[slot]; at != registration; at = now[slot]) {
      if (at == null) {
        return;
      }
      slot = (slot + 1) & mask;
    }
    SLOT.setRelease(now, slot, null);
    size--;
    // Later entries may be where they are because this slot was taken.
    for (int next = (slot + 1) & mask; ; next = (next + 1) & mask) {
      CachedRegistration displaced = now[next];
      if (displaced == null) {
        return;
      }
      SLOT.setRelease(now, next, null);
      put(now, displaced);
    }
  }
}
