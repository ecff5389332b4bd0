package org.jofi.mr.cache;

import org.jofi.mr.region.RegionSet;
import org.jspecify.annotations.Nullable;

/**
 * Regions that cannot be leased any more and have to be closed. If their provider refuses, closing
 * them is tried again later.
 *
 * @param space the space that they belong to
 * @param regions the regions that are still open
 * @param registration the registration that they were part of; null if they never became a data
 *     registration
 */
record Closing(CacheSpace space, RegionSet regions, @Nullable CachedRegistration registration) {

  Closing(CachedRegistration registration) {
    this(registration.space(), registration.regions(), registration);
  }

  Transition transition() {
    return Transition.closing(space, regions.range());
  }
}
