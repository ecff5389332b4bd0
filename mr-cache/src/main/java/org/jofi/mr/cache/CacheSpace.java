package org.jofi.mr.cache;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.scope.MrScope;
import org.jspecify.annotations.Nullable;

/**
 * The cached registrations of one scope: those that one endpoint, or all endpoints over the same
 * NICs, may share. Any thread may call {@link #find} without a lock; all other methods need the
 * cache's lock.
 *
 * <p>A partition holds registrations that differ only in their range: they have the same kind,
 * device and access, are all registered by address or all through a dma-buf, and their allocations
 * are all known or all unknown. A registration serves requests for its access or less.
 */
public final class CacheSpace {
  private record Partition(long code, long access, IntervalIndex index) {}

  private final MrScope scope;
  private final Set<CachedRegistration> open = new LinkedHashSet<>();
  private final Set<CachedRegistration> retired = new LinkedHashSet<>();
  private volatile Partition[] partitions = {};
  private boolean closed;

  CacheSpace(MrScope scope) {
    this.scope = scope;
  }

  /**
   * A number for everything that a registration and a request must have in common, except range,
   * access and allocation.
   */
  static long code(BufferRange range) {
    return code(range.kind(), range.device(), range.isKnown(), range.dmaBuf() != null);
  }

  private static long code(CachedRegistration registration) {
    BufferRange range = registration.range();
    return code(
        range.kind(), range.device(), registration.isOfKnownAllocation(), range.dmaBuf() != null);
  }

  @SuppressWarnings("EnumOrdinal") // The number never leaves this process.
  static long code(MemoryKind kind, int device, boolean known, boolean dmaBuf) {
    return kind.ordinal() | (long) device << 8 | (dmaBuf ? 1L << 40 : 0L) | (known ? 1L << 41 : 0L);
  }

  /** The part of a code that says where memory lives. */
  @SuppressWarnings("EnumOrdinal") // The number never leaves this process.
  static long place(MemoryKind kind, int device) {
    return kind.ordinal() | (long) device << 8;
  }

  private static boolean isAt(Partition partition, long place) {
    return (partition.code & 0xff_ffff_ffffL) == place;
  }

  MrScope scope() {
    return scope;
  }

  long generation() {
    return scope.generation();
  }

  /**
   * Takes a lease or a use of a registration that covers the range; null if there is none.
   *
   * @param what as {@link LeaseCount#tryHit}
   */
  @Nullable CachedRegistration find(BufferRange range, long access, long what, int epoch) {
    return find(
        code(range),
        range.allocationId(),
        range.scope(),
        range.address(),
        range.lengthBytes(),
        access,
        what,
        epoch);
  }

  /** As above, for a range that may be malformed; returns null then. */
  @Nullable CachedRegistration find(
      long code,
      long allocationId,
      MemorySegment.@Nullable Scope scope,
      long address,
      long lengthBytes,
      long access,
      long what,
      int epoch) {
    long first = IntervalIndex.order(address);
    long last = first + lengthBytes - 1;
    if (last < first) {
      return null;
    }
    for (Partition partition : partitions) {
      if (partition.code == code && (partition.access & access) == access) {
        CachedRegistration near = partition.index.floor(first);
        if (near != null
            && near.covers(allocationId, scope, first, last)
            && near.tryHit(what, epoch)) {
          return near;
        }
      }
    }
    return null;
  }

  /**
   * Adds a registration and retires those that it supersedes: registrations that it contains, and
   * registrations of other allocations at its addresses, since their memory must have been freed.
   *
   * @return the retired registrations
   */
  List<CachedRegistration> insert(CachedRegistration registration) {
    IntervalIndex index = index(code(registration), registration.access());
    List<CachedRegistration> superseded = new ArrayList<>();
    index.overlapping(registration.first(), registration.last(), superseded);
    open.add(registration);
    if (superseded.stream().anyMatch(old -> old.contains(registration))) {
      // Another thread made a larger one at the same time and was first.
      retired.add(registration);
      return List.of();
    }
    superseded.removeIf(old -> old.isOfSameAllocation(registration) && !registration.contains(old));
    for (CachedRegistration old : superseded) {
      index.remove(old);
      retired.add(old);
    }
    index.insert(registration);
    return superseded;
  }

  /** Gives it no new leases from now on; whether it was still open, and gave some. */
  boolean retire(CachedRegistration registration) {
    if (!open.contains(registration) || !retired.add(registration)) {
      return false;
    }
    index(code(registration), registration.access()).remove(registration);
    return true;
  }

  /** Removes a registration that is being closed. */
  void remove(CachedRegistration registration) {
    if (open.remove(registration) && !retired.remove(registration)) {
      index(code(registration), registration.access()).remove(registration);
    }
  }

  private IntervalIndex index(long code, long access) {
    for (Partition partition : partitions) {
      if (partition.code == code && partition.access == access) {
        return partition.index;
      }
    }
    Partition[] more = Arrays.copyOf(partitions, partitions.length + 1);
    Partition added = new Partition(code, access, new IntervalIndex());
    more[more.length - 1] = added;
    partitions = more;
    return added.index;
  }

  /** Adds the open registrations that share a byte with the memory, of every partition. */
  void overlapping(
      MemoryKind kind, int device, long first, long last, Collection<CachedRegistration> found) {
    long place = place(kind, device);
    List<CachedRegistration> indexed = new ArrayList<>();
    for (Partition partition : partitions) {
      if (isAt(partition, place)) {
        partition.index.overlapping(first, last, indexed);
      }
    }
    found.addAll(indexed);
    for (CachedRegistration registration : retired) {
      if (place(registration.range().kind(), registration.range().device()) == place
          && registration.first() <= last
          && registration.last() >= first) {
        found.add(registration);
      }
    }
  }

  /** All open registrations, oldest first. */
  Collection<CachedRegistration> open() {
    return open;
  }

  /** Whether it was superseded: its lessees may still use it, but it gets no new leases. */
  boolean isRetired(CachedRegistration registration) {
    return retired.contains(registration);
  }

  boolean isClosed() {
    return closed;
  }

  void setClosed(boolean value) {
    closed = value;
  }

  @Override
  public String toString() {
    return scope.toString();
  }
}
