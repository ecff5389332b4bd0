package org.jofi.mr.cache;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Registrations of one kind of memory by address. Lookups take no lock and write nothing: they read
 * immutable chunks of a sorted list. One writer at a time, under the cache's lock.
 *
 * <p><b>Invariant.</b> No member contains another: before a member is inserted, those that it
 * contains are removed. So the members are sorted by their first byte and by their last byte alike.
 * Of all members that start at or before an address, the last one therefore has the greatest end:
 * if it does not cover a range that starts there, none does. A lookup first tries the member that
 * starts exactly there; otherwise it does two binary searches, one over the chunks and one within a
 * chunk.
 *
 * <p>Addresses are unsigned. {@link #order} maps them to signed numbers in the same order.
 */
final class IntervalIndex {
  /**
   * Largest number of members in a chunk: few enough that a chunk takes a handful of cache lines.
   */
  private static final int MAX = 64;

  private static final Snapshot EMPTY =
      new Snapshot(new long[0], new long[0][], new CachedRegistration[0][]);

  /**
   * Chunk i holds {@code members[i]}, sorted; {@code firsts[i]} are their first bytes. No chunk is
   * empty. {@code bounds[i]} is at most the first address of chunk i, and greater than every first
   * address of chunk i - 1. Immutable.
   */
  private static final class Snapshot {
    final long[] bounds;
    final long[][] firsts;
    final CachedRegistration[][] members;

    Snapshot(long[] bounds, long[][] firsts, CachedRegistration[][] members) {
      this.bounds = bounds;
      this.firsts = firsts;
      this.members = members;
    }

    int chunks() {
      return bounds.length;
    }
  }

  private final StartTable starts = new StartTable();
  private volatile Snapshot snapshot = EMPTY;

  /** Maps unsigned order to signed order, and back. */
  static long order(long address) {
    return address ^ Long.MIN_VALUE;
  }

  /**
   * The only member that can cover a range that starts there; null if there is none. Any thread.
   */
  @Nullable CachedRegistration floor(long first) {
    CachedRegistration startsThere = starts.find(first);
    return startsThere == null ? search(first) : startsThere;
  }

  private @Nullable CachedRegistration search(long first) {
    Snapshot now = snapshot;
    int chunk = floor(now.bounds, first);
    if (chunk < 0) {
      return null;
    }
    int at = floor(now.firsts[chunk], first);
    if (at >= 0) {
      return now.members[chunk][at];
    }
    // The chunk's first members were removed; the nearest one is the last of the chunk before.
    if (chunk == 0) {
      return null;
    }
    CachedRegistration[] before = now.members[chunk - 1];
    return before[before.length - 1];
  }

  /** Position of the last value at or below the key; -1 if there is none. */
  private static int floor(long[] sorted, long key) {
    int low = 0;
    int length = sorted.length;
    while (length > 1) {
      int half = length >>> 1;
      low += sorted[low + half] <= key ? half : 0;
      length -= half;
    }
    return length == 1 && sorted[low] <= key ? low : -1;
  }

  /** Adds the members that share a byte with the range to {@code found}, in no particular order. */
  void overlapping(long first, long last, List<CachedRegistration> found) {
    Snapshot now = snapshot;
    int start = Math.max(0, floor(now.bounds, first));
    for (int chunk = start; chunk >= 0; chunk--) {
      if (!collect(now, chunk, first, last, found) && chunk < start) {
        break;
      }
    }
    for (int chunk = start + 1; chunk < now.chunks() && now.bounds[chunk] <= last; chunk++) {
      collect(now, chunk, first, last, found);
    }
  }

  private static boolean collect(
      Snapshot now, int chunk, long first, long last, List<CachedRegistration> found) {
    if (chunk >= now.chunks()) {
      return false;
    }
    boolean any = false;
    for (CachedRegistration member : now.members[chunk]) {
      if (member.first() <= last && member.last() >= first) {
        found.add(member);
        any = true;
      }
    }
    return any;
  }

  /** Adds a member that contains no other member and is contained in none. */
  void insert(CachedRegistration member) {
    starts.insert(member);
    Snapshot now = snapshot;
    if (now.chunks() == 0) {
      snapshot =
          new Snapshot(
              new long[] {Long.MIN_VALUE},
              new long[][] {{member.first()}},
              new CachedRegistration[][] {{member}});
      return;
    }
    int chunk = floor(now.bounds, member.first());
    CachedRegistration[] old = now.members[chunk];
    int at = floor(now.firsts[chunk], member.first()) + 1;
    CachedRegistration[] grown = Arrays.copyOf(old, old.length + 1);
    System.arraycopy(old, at, grown, at + 1, old.length - at);
    grown[at] = member;
    if (grown.length <= MAX) {
      snapshot = replaced(now, chunk, 1, grown);
    } else {
      int half = grown.length / 2;
      snapshot =
          replaced(
              now,
              chunk,
              1,
              Arrays.copyOf(grown, half),
              Arrays.copyOfRange(grown, half, grown.length));
    }
  }

  /** Removes a member; returns false if it is not one. */
  boolean remove(CachedRegistration member) {
    Snapshot now = snapshot;
    int chunk = floor(now.bounds, member.first());
    if (chunk < 0) {
      return false;
    }
    CachedRegistration[] old = now.members[chunk];
    int at = floor(now.firsts[chunk], member.first());
    if (at < 0 || old[at] != member) {
      return false;
    }
    starts.remove(member);
    CachedRegistration[] shrunk = Arrays.copyOf(old, old.length - 1);
    System.arraycopy(old, at + 1, shrunk, at, shrunk.length - at);
    snapshot = shrunk.length == 0 ? replaced(now, chunk, 1) : joined(now, chunk, shrunk);
    return true;
  }

  /** Merges a chunk that became small with its neighbour. */
  private static Snapshot joined(Snapshot now, int chunk, CachedRegistration[] shrunk) {
    int left = chunk > 0 ? chunk - 1 : chunk;
    if (left + 1 == now.chunks()) {
      return replaced(now, chunk, 1, shrunk);
    }
    CachedRegistration[] low = left == chunk ? shrunk : now.members[left];
    CachedRegistration[] high = left == chunk ? now.members[left + 1] : shrunk;
    if (low.length + high.length > MAX / 2) {
      return replaced(now, chunk, 1, shrunk);
    }
    CachedRegistration[] both = Arrays.copyOf(low, low.length + high.length);
    System.arraycopy(high, 0, both, low.length, high.length);
    return replaced(now, left, 2, both);
  }

  /** The snapshot with some chunks replaced by others. */
  private static Snapshot replaced(Snapshot now, int from, int count, CachedRegistration[]... by) {
    int chunks = now.chunks() - count + by.length;
    if (chunks == 0) {
      return EMPTY;
    }
    int tail = now.chunks() - from - count;
    long[] bounds = Arrays.copyOf(now.bounds, chunks);
    long[][] firsts = Arrays.copyOf(now.firsts, chunks);
    CachedRegistration[][] members = Arrays.copyOf(now.members, chunks);
    System.arraycopy(now.bounds, from + count, bounds, from + by.length, tail);
    System.arraycopy(now.firsts, from + count, firsts, from + by.length, tail);
    System.arraycopy(now.members, from + count, members, from + by.length, tail);
    for (int i = 0; i < by.length; i++) {
      members[from + i] = by[i];
      firsts[from + i] = Arrays.stream(by[i]).mapToLong(CachedRegistration::first).toArray();
      // The first of them takes over the bound of the first that it replaces.
      bounds[from + i] = i == 0 ? now.bounds[from] : firsts[from + i][0];
    }
    bounds[0] = Long.MIN_VALUE;
    return new Snapshot(bounds, firsts, members);
  }
}
