package org.jofi.mr.cache;

import java.util.List;
import java.util.function.Function;
import org.agrona.concurrent.NanoClock;
import org.jofi.fabric.Domain;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.mr.key.KeySource;
import org.jofi.mr.key.KeysExhaustedException;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.region.RegistrationRole;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheCounters;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.scope.Rail;
import org.jspecify.annotations.Nullable;

/**
 * Registers memory with the providers, without holding the cache's lock, and measures how long they
 * take. Any thread.
 */
final class RegionOpenings {
  /** Memory is pinned in whole pages. This is the largest page size in use. */
  private static final long PAGE_BYTES = 64 << 10;

  /** How often it is tried, if each time something could be evicted. */
  static final int MOST_TRIES = 4;

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
   * Registers on each rail. If a provider is out of resources, idle registrations are evicted, and
   * it is tried again. Other processes take of the same resources, so that each time more are
   * evicted.
   *
   * @throws RegistrationException if a provider refuses; nothing stays open then, except for
   *     regions that could not be closed, which the cache keeps
   */
  RegionSet open(
      RegistrationRole role, CacheSpace space, List<Rail> rails, BufferRange range, long access) {
    @Nullable RegistrationException before = null;
    for (int tries = 1; ; tries++) {
      try {
        return timed(role, space, rails, range, access);
      } catch (RegistrationException e) {
        if (before != null) {
          e.addSuppressed(before);
        }
        if (tries == MOST_TRIES || !isOutOfResources(e) || !madeRoom(range, tries, e)) {
          throw e;
        }
        before = e;
      }
    }
  }

  /** Whether closing other registrations may help. */
  private static boolean isOutOfResources(RegistrationException e) {
    return e.getCause() instanceof KeysExhaustedException
        || (e.getCause() instanceof FabricException refused
            && (refused.errno() == FabricErrno.ENOMEM || refused.errno() == FabricErrno.ENOSPC));
  }

  private boolean madeRoom(BufferRange range, int tries, RegistrationException cause) {
    try {
      return closings.makeRoom(leastEvicted(tries), pages(range), "register " + range);
    } catch (RegistrationException late) {
      cause.addSuppressed(late);
      return false;
    }
  }

  /** How many registrations are evicted at least, after so many tries: 1, 16, 256. */
  static int leastEvicted(int tries) {
    return 1 << (4 * (tries - 1));
  }

  /** The length of the memory in whole pages, in bytes. */
  private static long pages(BufferRange range) {
    long before = range.address() & (PAGE_BYTES - 1);
    return (before + range.lengthBytes() + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  }

  private RegionSet timed(
      RegistrationRole role, CacheSpace space, List<Rail> rails, BufferRange range, long access) {
    long start = clock.nanoTime();
    try {
      return RegionSet.open(
          role,
          space.scope(),
          keys,
          rails,
          range.withoutScope(),
          access,
          leftover -> closings.keep(space, leftover));
    } finally {
      counters.spent(clock.nanoTime() - start);
    }
  }
}
