package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jofi.fabric.ProviderRelease;
import org.jofi.fabric.ProviderTraits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class LibfabricTraitsTest {
  @ParameterizedTest
  @CsvSource({
    "tcp,         true,  true,  false, false, 65472, 7200, 0",
    "tcp;ofi_rxm, true,  true,  false, false, 65472, 8300, 0",
    "net,         true,  true,  false, false, 65472, 7200, 0",
    "net;ofi_rxm, true,  true,  false, false, 8192, 0, 0",
    "sockets,     true,  true,  false, true, 8192, 0, 0",
    "udp;ofi_rxd, true,  true,  false, true, 8192, 0, 0",
    "shm,         true,  true,  true,  true, 4032, 1900, 80000000000",
  })
  void softwareIsTold(
      String provider,
      boolean software,
      boolean copies,
      boolean small,
      boolean delivered,
      int eager,
      long latency,
      long speed) {
    ProviderTraits traits = LibfabricTraits.of(provider, true);
    assertEquals(
        new ProviderTraits(
            software, traits.preference(), copies, small, delivered, true, eager, latency, speed),
        traits);
  }

  @ParameterizedTest
  @CsvSource({"tcp;ofi_rxm, 8192", "net;ofi_rxm, 8192", "tcp, 65472", "net, 65472", "shm, 4032"})
  void withoutTheSettingLayersSendShortPacketsOnly(String provider, int eager) {
    assertEquals(eager, LibfabricTraits.of(provider, false).eagerBytes());
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa-direct", "cxi", "verbs;ofi_rxm", "psm3", "opx", "network"})
  void whatIsNotListedIsHardware(String provider) {
    assertEquals(ProviderTraits.HARDWARE, LibfabricTraits.of(provider, true));
  }

  @Test
  void efaIsHardwareThatDoesNotWriteDataToItself() {
    assertEquals(
        new ProviderTraits(false, 0, false, false, true, false, 8192, 0, 0),
        LibfabricTraits.of("efa", true));
  }

  @Test
  void tcpIsPreferredAndSharedMemoryLast() {
    List<Integer> order =
        List.of("tcp", "net", "tcp;ofi_rxm", "net;ofi_rxm", "sockets", "udp;ofi_rxd", "shm")
            .stream()
            .map(provider -> LibfabricTraits.of(provider, true).preference())
            .toList();
    assertEquals(order.stream().sorted().distinct().toList(), order);
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void infosHaveThem(String provider) {
    ProviderTraits traits = Loopback.info(provider).traits();
    boolean longLayered = LibfabricLibrary.load().layersSendLongPackets();
    assertEquals(LibfabricTraits.of(provider, longLayered), traits);
    assertTrue(traits.software());
  }

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
  void theMapOfRegionsIsUnguardedInSomeVersions(
      String provider, int major, int minor, boolean unguarded) {
    assertEquals(
        unguarded,
        LibfabricTraits.leavesRegionMapUnguarded(provider, LibfabricLibrary.version(major, minor)));
  }

  @ParameterizedTest
  @CsvSource({
    "tcp;ofi_rxm, 1, 17, false",
    "tcp;ofi_rxm, 1, 18, true",
    "tcp;ofi_rxm, 2, 1, true",
    "net;ofi_rxm, 1, 18, true",
    "tcp, 2, 1, false",
    "verbs;ofi_rxm, 2, 1, false",
    "udp;ofi_rxd, 2, 1, false",
  })
  void aWriteThatIsPartlyThereCrashesSomeVersions(
      String provider, int major, int minor, boolean crashes) {
    assertEquals(
        crashes,
        LibfabricTraits.crashesOnPartialWriteData(
            provider, LibfabricLibrary.version(major, minor)));
  }

  @ParameterizedTest
  @CsvSource({
    "verbs;ofi_rxm, 1, true",
    "verbs;ofi_rxm, Yes, true",
    "verbs;ofi_rxm, 0, false",
    "verbs;ofi_rxm, '', false",
    "tcp;ofi_rxm, 1, false",
    "verbs, 1, false",
  })
  void sharedReceivesOverVerbsLoseArrivals(String provider, String set, boolean loses) {
    assertEquals(
        loses,
        LibfabricTraits.trap(provider, name -> name.equals("FI_OFI_RXM_USE_SRX") ? set : "1")
            .isPresent());
  }

  private static String obstacle(ProviderRelease one, ProviderRelease other) {
    assertEquals(
        LibfabricTraits.obstacle(one, other).isPresent(),
        LibfabricTraits.obstacle(other, one).isPresent());
    return LibfabricTraits.obstacle(one, other).orElse("");
  }

  @Test
  void whatIsTheSameOnTheWireIsConnected() {
    ProviderRelease old = new ProviderRelease("net", 1, 17);
    assertEquals("", obstacle(old, new ProviderRelease("tcp", 2, 1)));
    assertEquals("", obstacle(new ProviderRelease("efa", 1, 17), new ProviderRelease("efa", 2, 1)));
    for (String other : List.of("tcp;ofi_rxm", "shm", "efa")) {
      assertTrue(obstacle(old, new ProviderRelease(other, 1, 17)).contains("net of libfabric 1"));
    }
  }

  @Test
  void sharedMemoryIsOfOneVersion() {
    ProviderRelease one = new ProviderRelease("shm", 1, 17);
    assertEquals("", obstacle(one, one));
    for (ProviderRelease other :
        List.of(
            new ProviderRelease("shm", 1, 18),
            new ProviderRelease("shm", 2, 1),
            new ProviderRelease("shm", 2, 17))) {
      assertTrue(obstacle(one, other).contains("JOFI_LIBFABRIC"), other.toString());
    }
  }
}
