package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Closing in any order is safe: refused while children live, and then possible. */
@Timeout(60)
class CloseOrderTest {

  private record Closing(String name, Runnable close) {}

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void everyOrderEndsWithEverythingClosed(String provider) {
    Random random = new Random(4711);
    for (int round = 0; round < 10; round++) {
      Loopback loopback = new Loopback(provider);
      MemoryRegion region =
          loopback.domain.register(
              RegionRequest.host(loopback.memory, Access.ALL).withRequestedKey(round + 1));
      List<Closing> closings =
          new ArrayList<>(
              List.of(
                  new Closing("endpoint", loopback.endpoint::close),
                  new Closing("queue", loopback.queue::close),
                  new Closing("peers", loopback.peers::close),
                  new Closing("region", region::close),
                  new Closing("domain", loopback.domain::close),
                  new Closing("fabric", loopback.fabric::close)));
      Collections.shuffle(closings, random);
      List<String> closed = new ArrayList<>();
      // Five passes are enough for the deepest chain, whatever the order.
      for (int pass = 0; pass < 5 && closed.size() < closings.size(); pass++) {
        for (Closing closing : closings) {
          if (!closed.contains(closing.name) && succeeds(closing, closed)) {
            closed.add(closing.name);
          }
        }
      }
      assertEquals(closings.size(), closed.size(), () -> "closed only " + closed);
      loopback.arena.close();
    }
  }

  private static boolean succeeds(Closing closing, List<String> closed) {
    try {
      closing.close.run();
    } catch (FabricException refused) {
      assertEquals(FabricErrno.EBUSY, refused.errno(), refused::getMessage);
      assertTrue(refused.getMessage().contains("carries"), refused::getMessage);
      return false;
    }
    switch (closing.name) {
      case "queue", "peers" -> assertTrue(closed.contains("endpoint"), closed::toString);
      case "domain" ->
          assertTrue(
              closed.containsAll(List.of("endpoint", "queue", "peers", "region")),
              closed::toString);
      case "fabric" -> assertTrue(closed.contains("domain"), closed::toString);
      default -> {
        // Endpoint and domain-scoped region close at any time.
      }
    }
    return true;
  }

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void aRefusalNamesWhatIsOpen(String provider) {
    try (Loopback loopback = new Loopback(provider)) {
      FabricException refused = assertThrows(FabricException.class, loopback.domain::close);
      assertTrue(refused.getMessage().contains("endpoint 'loopback'"), refused::getMessage);
      assertTrue(refused.getMessage().contains("completion queue"), refused::getMessage);
      assertTrue(refused.getMessage().contains("Close what is in it first"), refused::getMessage);
    }
  }
}
