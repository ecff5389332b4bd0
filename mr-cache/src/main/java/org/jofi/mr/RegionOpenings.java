package org.jofi.mr;

import java.util.List;
import java.util.function.Function;
import org.agrona.concurrent.NanoClock;
import org.jofi.fabric.Domain;

/**
 * Makes the regions of registrations, outside of the cache's lock, and measures how long providers
 * take. Any thread.
 */
final class RegionOpenings {
  /** Memory is pinned in whole pages; the largest in use are this long. */
  private static final long PAGE_BYTES = 64 << 10;

  private final Function<Domain, KeySource> keys;
  private final NanoClock clock;
  private final CacheCounters counters;
  private final CacheClosings closings;

  RegionOpenings(
      Function<Domain, KeySource> keys,
      NanoClock clock,
      CacheCounters counters,
      CacheClosings closings) {
    this.keys = keys;
    this.clock = clock;
    this.counters = counters;
    this.closings = closings;
  }

  /**
   * Registers on each rail. If a provider is out of resources, idle registrations make room and it
   * is tried once more.
   *
   * @throws RegistrationException if a provider refuses; nothing stays open, or the cache keeps
   *     what could not be closed
   */
  RegionSet open(
      RegistrationRole role, CacheSpace space, List<Rail> rails, BufferRange range, long access) {
    try {
      return timed(role, space, rails, range, access);
    } catch (RegistrationException e) {
      if (!e.isOutOfResources() || !madeRoom(range, e)) {
        throw e;
      }
      try {
        return timed(role, space, rails, range, access);
      } catch (RegistrationException again) {
        again.addSuppressed(e);
        throw again;
      }
    }
  }

  private boolean madeRoom(BufferRange range, RegistrationException cause) {
    try {
      return closings.makeRoom(pages(range), "register " + range);
    } catch (RegistrationException late) {
      cause.addSuppressed(late);
      return false;
    }
  }

  /** What the memory takes in whole pages. */
  private static long pages(BufferRange range) {
    long before = range.address() & (PAGE_BYTES - 1);
    return (before + range.lengthBytes() + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  }

  private RegionSet timed(
      RegistrationRole role, CacheSpace space, List<Rail> rails, BufferRange range, long access) {
    long start = clock.nanoTime();
    try {
      return RegionSet.open(role, space.scope(), keys, rails, range, access);
    } catch (RegistrationException e) {
      closings.keep(space, e.leftover());
      throw e;
    } finally {
      counters.spent(clock.nanoTime() - start);
    }
  }
}
