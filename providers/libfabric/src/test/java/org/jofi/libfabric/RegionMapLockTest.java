package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The lock is there where a provider lacks its own, and nowhere else. */
class RegionMapLockTest {
  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void othersPayNothing(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      RegionMapLock lock = ((LibfabricDomain) loopback.domain).regionMapLock();
      boolean unguarded =
          LibfabricTraits.leavesRegionMapUnguarded(provider, LibfabricLibrary.load().version());
      assertEquals(!unguarded, lock == RegionMapLock.NONE);
    }
  }
}
