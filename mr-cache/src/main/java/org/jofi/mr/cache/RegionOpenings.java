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

/**
 * Registers memory with the providers, without holding the cache's lock, and measures how long they
 * take. Any thread.
 */
final class RegionOpenings {
  /** Memory is pinned in whole pages. This is the largest page size in use. */
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
   * Registers on each rail. If a provider is out of resources, idle registrations are evicted, and
   * it is tried once more.
   *
   * @throws RegistrationException if a provider refuses; nothing stays open then, except for
   *     regions that could not be closed, which the cache keeps
   */
  RegionSet open(
      RegistrationRole role, CacheSpace space, List<Rail> rails, BufferRange range, long access) {
    try {
      return timed(role, space, rails, range, access);
    } catch (RegistrationException e) {
      if (!isOutOfResources(e) || !madeRoom(range, e)) {
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

  /** Whether closing other registrations may help. */
  private static boolean isOutOfResources(RegistrationException e) {
    return e.getCause() instanceof KeysExhaustedException
        || (e.getCause() instanceof FabricException refused
            && (refused.errno() == FabricErrno.ENOMEM || refused.errno() == FabricErrno.ENOSPC));
  }

  private boolean madeRoom(BufferRange range, RegistrationException cause) {
    try {
      return closings.makeRoom(pages(range), "register " + range);
    } catch (RegistrationException late) {
      cause.addSuppressed(late);
      return false;
    }
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
