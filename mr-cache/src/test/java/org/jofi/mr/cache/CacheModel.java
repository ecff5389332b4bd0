package org.jofi.mr.cache;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.DataRegistration;

/**
 * What the cache must hold, as a plain map that is searched from end to end: the rules of
 * docs/REGISTRATION.md without any of the cache's machinery.
 */
final class CacheModel {
  private static final long PAGE = 64 << 10;

  /** A registration as the rules see it. */
  static final class Entry {
    final BufferRange range;
    final long access;
    final long space;
    final long sequence;
    int leases = 1;
    int uses;
    long stamp;
    boolean counted;
    boolean superseded;
    boolean closed;

    Entry(BufferRange range, long access, long space, long sequence) {
      this.range = range;
      this.access = access;
      this.space = space;
      this.sequence = sequence;
    }

    boolean isFreed() {
      return range.scope() != null && !range.scope().isAlive();
    }

    boolean isIdle() {
      return leases == 0 && uses == 0;
    }

    long end() {
      return range.address() + range.lengthBytes();
    }

    boolean isLike(BufferRange other) {
      return range.kind() == other.kind()
          && range.device() == other.device()
          && (range.dmaBuf() == null) == (other.dmaBuf() == null);
    }

    boolean contains(BufferRange other) {
      return range.address() <= other.address() && other.address() + other.lengthBytes() <= end();
    }

    boolean overlaps(MemoryKind kind, int device, long address, long length) {
      return range.kind() == kind
          && range.device() == device
          && range.address() < address + length
          && address < end();
    }
  }

  private final CacheLimits limits;
  final Map<DataRegistration, Entry> entries = new LinkedHashMap<>();
  private final List<Entry> unsettled = new ArrayList<>();
  long hits;
  long misses;
  long evictions;
  private long registered;

  CacheModel(CacheLimits limits) {
    this.limits = limits;
  }

  List<Entry> open() {
    return entries.values().stream().filter(entry -> !entry.closed).toList();
  }

  boolean covers(Entry entry, long space, BufferRange range, long access) {
    return !entry.closed
        && !entry.superseded
        && entry.space == space
        && entry.isLike(range)
        && entry.range.isOfSameAllocation(range)
        && (entry.access & access) == access
        && entry.contains(range);
  }

  boolean hits(long space, BufferRange range, long access) {
    return open().stream().anyMatch(entry -> covers(entry, space, range, access));
  }

  /** A lease, or a use, of an entry that must cover the range. */
  void hit(DataRegistration registration, long space, BufferRange range, long access, boolean use) {
    Entry entry = entries.get(registration);
    if (entry == null || !covers(entry, space, range, access)) {
      throw new AssertionError(registration + " was given for " + range);
    }
    entry.leases += use ? 0 : 1;
    entry.uses += use ? 1 : 0;
    entry.stamp = registered;
    hits++;
  }

  /** A registration was made. */
  void admit(DataRegistration registration, long space, BufferRange range, long access) {
    if (entries.containsKey(registration)) {
      throw new AssertionError(registration + " is not new");
    }
    registered++;
    Entry made = new Entry(range, access, space, registered);
    made.stamp = 0;
    for (Entry old : open()) {
      boolean samePartition =
          !old.superseded
              && old.space == space
              && old.isLike(range)
              && old.access == access
              && old.range.isKnown() == range.isKnown();
      boolean freed =
          !old.range.isOfSameAllocation(range)
              && old.overlaps(range.kind(), range.device(), range.address(), range.lengthBytes());
      if (samePartition && (made.contains(old.range) || freed)) {
        old.superseded = true;
        old.counted = false;
        old.closed = old.isIdle();
      }
    }
    entries.put(registration, made);
  }

  void release(DataRegistration registration) {
    Entry entry = entries.get(registration);
    entry.leases--;
    entry.stamp = registered;
    ended(entry);
  }

  /** It is looked at later, in the order in which the last uses ended. */
  void endUse(DataRegistration registration) {
    Entry entry = entries.get(registration);
    entry.uses--;
    entry.stamp = registered;
    if (entry.isIdle()) {
      unsettled.add(entry);
    }
  }

  /** Those whose uses ended are looked at. */
  void settle() {
    unsettled.forEach(this::ended);
    unsettled.clear();
  }

  private void ended(Entry entry) {
    if (!entry.isIdle() || entry.closed) {
      return;
    }
    boolean keeps =
        entry.range.isKnown()
            && !entry.isFreed()
            && limits.idleEntries() > 0
            && entry.range.lengthBytes() <= limits.idleBytes();
    // What is counted already is not looked at when it is given back, but when its turn comes, or
    // when somebody looks for freed memory.
    if (entry.superseded || (!keeps && !entry.counted)) {
      entry.closed = true;
    } else if (!entry.counted) {
      entry.counted = true;
      while (isOverBudget()) {
        first().ifPresent(this::evictOrDiscount);
      }
    }
  }

  boolean isOverBudget() {
    List<Entry> counted = open().stream().filter(entry -> entry.counted).toList();
    return counted.size() > limits.idleEntries()
        || counted.stream().mapToLong(entry -> entry.range.lengthBytes()).sum()
            > limits.idleBytes();
  }

  private Optional<Entry> first() {
    return open().stream()
        .filter(entry -> entry.counted)
        .min(
            Comparator.comparingLong((Entry entry) -> entry.stamp)
                .thenComparingLong(entry -> entry.sequence));
  }

  private long evictOrDiscount(Entry entry) {
    entry.counted = false;
    if (!entry.isIdle()) {
      return 0;
    }
    entry.closed = true;
    evictions++;
    return entry.range.lengthBytes();
  }

  /** Room is made for a registration that failed. */
  boolean makeRoom(BufferRange range, int least) {
    long from = Math.floorDiv(range.address(), PAGE) * PAGE;
    long needed = Math.ceilDiv(range.address() + range.lengthBytes() - from, PAGE) * PAGE;
    return evict(needed, least) > 0;
  }

  /** What is idle and of freed memory goes; what is leased does when it is given back. */
  long closeFreed() {
    long closed = 0;
    for (Entry entry : open()) {
      if (entry.counted && entry.isFreed()) {
        entry.counted = false;
        entry.closed = entry.isIdle();
        closed += entry.closed ? 1 : 0;
      }
    }
    return closed;
  }

  /** What is idle goes, until it is as many bytes and as many registrations. */
  long evict(long needed, int least) {
    long before = evictions;
    long freed = 0;
    while ((freed < needed || evictions - before < least) && first().isPresent()) {
      freed += evictOrDiscount(first().get());
    }
    return evictions - before;
  }

  List<Entry> overlapping(MemoryKind kind, int device, long address, long length) {
    return open().stream().filter(entry -> entry.overlaps(kind, device, address, length)).toList();
  }

  void closeSpace(long space) {
    open().stream().filter(entry -> entry.space == space).forEach(entry -> entry.closed = true);
  }
}
