package org.jofi.mr;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Registrations of one kind of memory by address. Lookups take no lock and write nothing: they read
 * immutable chunks of a sorted list. One writer at a time, under the cache's lock.
 *
 * <p><b>Invariant.</b> No member contains another: whoever inserts removes those that the new one
 * contains first. So members sorted by their first byte are sorted by their last byte too, and the
 * one that starts at or before an address, nearest to it, reaches farthest: if it does not cover a
 * range, none does. A lookup is two binary searches, over chunks and in a chunk.
 *
 * <p>Addresses are {@link #order ordered}, so that unsigned ones compare as signed.
 */
final class IntervalIndex {
  private static final int MAX = 128;
  private static final Snapshot EMPTY = new Snapshot(new long[0], new Chunk[0]);

  /** Up to {@link #MAX} members in order; never empty. Immutable. */
  private static final class Chunk {
    final long[] firsts;
    final DataRegistration[] members;

    Chunk(long[] firsts, DataRegistration[] members) {
      this.firsts = firsts;
      this.members = members;
    }

    int size() {
      return firsts.length;
    }
  }

  /**
   * {@code bounds[i]} is at most the first address of chunk i and above all of chunk i - 1.
   * Immutable.
   */
  private static final class Snapshot {
    final long[] bounds;
    final Chunk[] chunks;

    Snapshot(long[] bounds, Chunk[] chunks) {
      this.bounds = bounds;
      this.chunks = chunks;
    }
  }

  private volatile Snapshot snapshot = EMPTY;

  /** Maps unsigned order to signed order, and back. */
  static long order(long address) {
    return address ^ Long.MIN_VALUE;
  }

  /**
   * The only member that can cover a range that starts there; null if there is none. Any thread.
   */
  @Nullable DataRegistration floor(long first) {
    Snapshot now = snapshot;
    int chunk = floor(now.bounds, first);
    if (chunk < 0) {
      return null;
    }
    Chunk members = now.chunks[chunk];
    int at = floor(members.firsts, first);
    if (at >= 0) {
      return members.members[at];
    }
    // The chunk lost its first members; what is nearest is the last of the chunk before.
    if (chunk == 0) {
      return null;
    }
    Chunk before = now.chunks[chunk - 1];
    return before.members[before.size() - 1];
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

  /** Adds the members that share a byte with the range to {@code found}, in no certain order. */
  void overlapping(long first, long last, List<DataRegistration> found) {
    Snapshot now = snapshot;
    int start = Math.max(0, floor(now.bounds, first));
    for (int chunk = start; chunk >= 0; chunk--) {
      if (!collect(now.chunks, chunk, first, last, found) && chunk < start) {
        break;
      }
    }
    for (int chunk = start + 1; chunk < now.chunks.length && now.bounds[chunk] <= last; chunk++) {
      collect(now.chunks, chunk, first, last, found);
    }
  }

  private static boolean collect(
      Chunk[] chunks, int chunk, long first, long last, List<DataRegistration> found) {
    if (chunk >= chunks.length) {
      return false;
    }
    boolean any = false;
    for (DataRegistration member : chunks[chunk].members) {
      if (member.first() <= last && member.last() >= first) {
        found.add(member);
        any = true;
      }
    }
    return any;
  }

  /** Adds a member that contains none, and is contained in none. */
  void insert(DataRegistration member) {
    Snapshot now = snapshot;
    if (now.chunks.length == 0) {
      snapshot = new Snapshot(new long[] {Long.MIN_VALUE}, new Chunk[] {chunkOf(member)});
      return;
    }
    int chunk = floor(now.bounds, member.first());
    Chunk old = now.chunks[chunk];
    int at = floor(old.firsts, member.first()) + 1;
    long[] firsts = Arrays.copyOf(old.firsts, old.size() + 1);
    DataRegistration[] members = Arrays.copyOf(old.members, old.size() + 1);
    System.arraycopy(old.firsts, at, firsts, at + 1, old.size() - at);
    System.arraycopy(old.members, at, members, at + 1, old.size() - at);
    firsts[at] = member.first();
    members[at] = member;
    Chunk grown = new Chunk(firsts, members);
    snapshot = grown.size() <= MAX ? replaced(now, chunk, grown) : split(now, chunk, grown);
  }

  /** Takes a member out; false if it is none. */
  boolean remove(DataRegistration member) {
    Snapshot now = snapshot;
    int chunk = floor(now.bounds, member.first());
    if (chunk < 0) {
      return false;
    }
    Chunk old = now.chunks[chunk];
    int at = floor(old.firsts, member.first());
    if (at < 0 || old.members[at] != member) {
      return false;
    }
    if (old.size() == 1) {
      snapshot = without(now, chunk);
      return true;
    }
    long[] firsts = Arrays.copyOf(old.firsts, old.size() - 1);
    DataRegistration[] members = Arrays.copyOf(old.members, old.size() - 1);
    System.arraycopy(old.firsts, at + 1, firsts, at, old.size() - 1 - at);
    System.arraycopy(old.members, at + 1, members, at, old.size() - 1 - at);
    snapshot = joined(replaced(now, chunk, new Chunk(firsts, members)), chunk);
    return true;
  }

  private static Chunk chunkOf(DataRegistration member) {
    return new Chunk(new long[] {member.first()}, new DataRegistration[] {member});
  }

  private static Snapshot replaced(Snapshot now, int chunk, Chunk by) {
    Chunk[] chunks = now.chunks.clone();
    chunks[chunk] = by;
    return new Snapshot(now.bounds, chunks);
  }

  private static Snapshot split(Snapshot now, int chunk, Chunk full) {
    int half = full.size() / 2;
    Chunk low = slice(full, 0, half);
    Chunk high = slice(full, half, full.size());
    long[] bounds = Arrays.copyOf(now.bounds, now.bounds.length + 1);
    Chunk[] chunks = Arrays.copyOf(now.chunks, now.chunks.length + 1);
    System.arraycopy(now.bounds, chunk, bounds, chunk + 1, now.bounds.length - chunk);
    System.arraycopy(now.chunks, chunk, chunks, chunk + 1, now.chunks.length - chunk);
    bounds[chunk + 1] = high.firsts[0];
    chunks[chunk] = low;
    chunks[chunk + 1] = high;
    return new Snapshot(bounds, chunks);
  }

  private static Chunk slice(Chunk chunk, int from, int to) {
    return new Chunk(
        Arrays.copyOfRange(chunk.firsts, from, to), Arrays.copyOfRange(chunk.members, from, to));
  }

  private static Snapshot without(Snapshot now, int chunk) {
    if (now.chunks.length == 1) {
      return EMPTY;
    }
    long[] bounds = new long[now.bounds.length - 1];
    Chunk[] chunks = new Chunk[now.chunks.length - 1];
    System.arraycopy(now.bounds, 0, bounds, 0, chunk);
    System.arraycopy(now.chunks, 0, chunks, 0, chunk);
    System.arraycopy(now.bounds, chunk + 1, bounds, chunk, bounds.length - chunk);
    System.arraycopy(now.chunks, chunk + 1, chunks, chunk, chunks.length - chunk);
    bounds[0] = Long.MIN_VALUE;
    return new Snapshot(bounds, chunks);
  }

  /** Keeps chunks from withering away: a small one joins its neighbour. */
  private static Snapshot joined(Snapshot now, int chunk) {
    int left = chunk == 0 ? 0 : chunk - 1;
    if (left + 1 >= now.chunks.length
        || now.chunks[left].size() + now.chunks[left + 1].size() > MAX / 2) {
      return now;
    }
    Chunk low = now.chunks[left];
    Chunk high = now.chunks[left + 1];
    long[] firsts = Arrays.copyOf(low.firsts, low.size() + high.size());
    DataRegistration[] members = Arrays.copyOf(low.members, low.size() + high.size());
    System.arraycopy(high.firsts, 0, firsts, low.size(), high.size());
    System.arraycopy(high.members, 0, members, low.size(), high.size());
    return replaced(without(now, left + 1), left, new Chunk(firsts, members));
  }
}
