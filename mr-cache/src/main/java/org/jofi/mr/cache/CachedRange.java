package org.jofi.mr.cache;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import org.jofi.mr.registration.BufferRange;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a registration, as lookups compare it: which bytes, and of which allocation. A
 * class of its own so that the JVM lays these fields next to the counts: then a hit touches one
 * cache line of a registration, or two.
 */
abstract class CachedRange extends LeaseCount {
  private final long first;
  private final long last;
  private final long allocationId;

  /**
   * Weak, so that an automatic arena can be collected while its memory is kept registered. All
   * registrations of an arena share one, which is therefore in the CPU's caches.
   */
  private final @Nullable WeakReference<MemorySegment.Scope> scope;

  CachedRange(
      RegistrationCache cache,
      BufferRange range,
      @Nullable WeakReference<MemorySegment.Scope> scope) {
    super(cache);
    first = IntervalIndex.order(range.address());
    last = first + range.lengthBytes() - 1;
    allocationId = range.allocationId();
    this.scope = scope;
  }

  final long first() {
    return first;
  }

  final long last() {
    return last;
  }

  /** Whether it is memory of that allocation; of an unknown one if there is neither. */
  final boolean isOf(long id, MemorySegment.@Nullable Scope wanted) {
    WeakReference<MemorySegment.Scope> mine = scope;
    // A range of an arena has no id, so that the arena is all that there is to compare.
    return mine == null
        ? wanted == null && allocationId == id
        : wanted != null && mine.refersTo(wanted);
  }

  /** Whether both are memory of the same allocation, which still exists, or of an unknown one. */
  final boolean isOfSameAllocation(CachedRange other) {
    return isOf(other.allocationId, other.scope == null ? null : other.scope.get())
        && isOfArena() == other.isOfArena();
  }

  final boolean isOfKnownAllocation() {
    return allocationId != BufferRange.UNKNOWN_ALLOCATION || isOfArena();
  }

  final boolean isOfArena() {
    return scope != null;
  }

  /** Whether its memory was freed: its arena is closed, or was collected. */
  final boolean isFreed() {
    if (scope == null) {
      return false;
    }
    MemorySegment.Scope arena = scope.get();
    return arena == null || !arena.isAlive();
  }

  final boolean covers(long id, MemorySegment.@Nullable Scope wanted, long fromFirst, long toLast) {
    return first <= fromFirst && toLast <= last && isOf(id, wanted);
  }

  final boolean contains(CachedRange inner) {
    return first <= inner.first && inner.last <= last && isOfSameAllocation(inner);
  }
}
