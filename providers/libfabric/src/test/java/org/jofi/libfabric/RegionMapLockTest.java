package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The lock is there where a provider lacks its own, and nowhere else. */
class RegionMapLockTest {
  @ParameterizedTest
  @CsvSource({
    "net, 1, 16, true",
    "net, 1, 17, true",
    "net;ofi_rxm, 1, 17, true",
    "tcp;ofi_rxm, 1, 17, false",
    "tcp, 1, 18, true",
    "tcp;ofi_rxm, 1, 18, true",
    "tcp, 1, 19, false",
    "tcp;ofi_rxm, 1, 22, false",
    "tcp, 2, 1, false",
    "tcp, 2, 18, false",
    "shm, 1, 17, false",
    "shm, 1, 18, false",
    "sockets, 1, 17, false",
    "network, 1, 17, false",
  })
  void versionsAreToldApart(String provider, int major, int minor, boolean needed) {
    assertEquals(needed, RegionMapLock.isNeeded(provider, LibfabricLibrary.version(major, minor)));
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void othersPayNothing(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      RegionMapLock lock = ((LibfabricDomain) loopback.domain).regionMapLock();
      boolean unguarded = RegionMapLock.isNeeded(provider, LibfabricLibrary.load().version());
      assertEquals(!unguarded, lock == RegionMapLock.NONE);
    }
  }
}
