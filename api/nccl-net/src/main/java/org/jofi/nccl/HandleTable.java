package org.jofi.nccl;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongFunction;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * Maps handles to objects. NCCL keeps the handles as opaque pointers. Any thread; finding an object
 * takes no lock and allocates nothing.
 *
 * <pre>
 * [63:60] 0   [59:56] kind, 1 or more   [55:24] generation   [23:0] slot
 * </pre>
 *
 * The generation of a slot grows with each use, so that a removed handle is never found again. No
 * handle is 0 or 1, which have a meaning for NCCL.
 */
final class HandleTable<T> {
  /** Number of bits for the slot in a handle. */
  static final int SLOT_BITS = 24;

  private static final int FIRST_CAPACITY = 64;
  private static final long SLOT_MASK = (1L << SLOT_BITS) - 1;
  private static final long GENERATION_MASK = (1L << 32) - 1;

  private record Entry<T>(long handle, T value) {}

  private final String noun;
  private final long kind;
  private final int limit;
  private int[] free;
  private int freeCount;
  private int used;
  private long generation;
  private volatile AtomicReferenceArray<@Nullable Entry<T>> entries;

  /**
   * @param noun the name of its objects in error messages
   * @param kind of its handles, 1 to 15, different in every table
   * @param limit largest number of objects
   */
  HandleTable(String noun, int kind, int limit) {
    if (kind < 1 || kind > 15 || limit < 1 || limit > SLOT_MASK) {
      throw new IllegalArgumentException("kind %d, limit %d".formatted(kind, limit));
    }
    this.noun = noun;
    this.kind = kind;
    this.limit = limit;
    entries = new AtomicReferenceArray<>(Math.min(limit, FIRST_CAPACITY));
    free = new int[entries.length()];
  }

  /** The slot of a handle of any table. */
  static int slot(long handle) {
    return (int) (handle & SLOT_MASK);
  }

  /**
   * Adds an object.
   *
   * @param create creates the object from its handle
   * @return its handle
   * @throws TransportException {@link FailureCause#EXHAUSTED} if the table is full
   */
  synchronized long add(LongFunction<T> create) {
    if (freeCount == 0 && used == limit) {
      throw new TransportException(
          FailureCause.EXHAUSTED, "no more than %d %ss at once".formatted(limit, noun));
    }
    int slot = freeCount > 0 ? free[freeCount - 1] : used;
    long handle = kind << 56 | (generation + 1 & GENERATION_MASK) << SLOT_BITS | slot;
    T value = create.apply(handle);
    generation++;
    if (freeCount > 0) {
      freeCount--;
    } else {
      used++;
    }
    if (slot >= entries.length()) {
      grow();
    }
    entries.setRelease(slot, new Entry<>(handle, value));
    return handle;
  }

  /** Whether a handle belongs to this table; it may be stale. */
  boolean isKind(long handle) {
    return handle >>> 56 == kind;
  }

  /** Whether the table is empty. */
  synchronized boolean isEmpty() {
    return freeCount == used;
  }

  /** The object of a handle; null if it is not a handle of this table or was removed. */
  @Nullable T find(long handle) {
    Entry<T> entry = entry(slot(handle));
    return entry != null && entry.handle == handle ? entry.value : null;
  }

  /** The object in a slot, with any generation; null if there is none. */
  @Nullable T at(int slot) {
    Entry<T> entry = entry(slot);
    return entry == null ? null : entry.value;
  }

  /**
   * The object of a handle.
   *
   * @throws IllegalArgumentException if there is none
   */
  T get(long handle) {
    T value = find(handle);
    if (value == null) {
      throw new IllegalArgumentException(
          "0x%x is no %s: it was closed before, or is something else".formatted(handle, noun));
    }
    return value;
  }

  /**
   * Removes an object.
   *
   * @throws IllegalArgumentException if the handle has no object
   */
  synchronized T remove(long handle) {
    T value = get(handle);
    int slot = slot(handle);
    entries.setRelease(slot, null);
    free[freeCount++] = slot;
    return value;
  }

  /** The objects in it now. */
  List<T> values() {
    AtomicReferenceArray<@Nullable Entry<T>> now = entries;
    List<T> values = new ArrayList<>();
    for (int slot = 0; slot < now.length(); slot++) {
      Entry<T> entry = now.getAcquire(slot);
      if (entry != null) {
        values.add(entry.value);
      }
    }
    return values;
  }

  private @Nullable Entry<T> entry(int slot) {
    AtomicReferenceArray<@Nullable Entry<T>> now = entries;
    return slot < now.length() ? now.getAcquire(slot) : null;
  }

  private void grow() {
    AtomicReferenceArray<@Nullable Entry<T>> before = entries;
    AtomicReferenceArray<@Nullable Entry<T>> after =
        new AtomicReferenceArray<>(Math.min(limit, 2 * before.length()));
    for (int slot = 0; slot < before.length(); slot++) {
      after.setPlain(slot, before.getPlain(slot));
    }
    entries = after;
    free = Arrays.copyOf(free, after.length());
  }
}
