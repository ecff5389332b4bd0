package org.jofi.mr;

import org.jspecify.annotations.Nullable;

/**
 * Regions that nobody can lease any more and that are to be closed: now, or again when their
 * provider refused.
 *
 * @param space whose they are
 * @param regions those that are left
 * @param registration what they belonged to; null if they never became a data registration
 */
record Closing(CacheSpace space, RegionSet regions, @Nullable DataRegistration registration) {

  Closing(DataRegistration registration) {
    this(registration.space(), registration.regions(), registration);
  }

  Transit transit() {
    return Transit.closing(space, regions.range());
  }
}
