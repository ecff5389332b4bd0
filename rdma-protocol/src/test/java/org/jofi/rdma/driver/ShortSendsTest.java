package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jofi.fabric.EndpointLimits;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.rdma.wire.Handshake;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;

/** Endpoints whose sends are shorter than what their NIC negotiated. */
class ShortSendsTest {

  private static Host host(Simulation simulation, long sendBytes) {
    FabricProvider provider =
        AlteredProvider.of(
            simulation.host(0).provider(),
            (_, _, real) -> {
              Object answer = real.call();
              return answer instanceof EndpointLimits limits
                  ? new EndpointLimits(sendBytes, limits.rmaBytes(), 0, limits.injectedRmaBytes())
                  : answer;
            });
    return new Host(
        provider,
        List.of(provider.discover(FabricHints.any()).getFirst()),
        0,
        1,
        simulation::nanoTime,
        simulation::idle);
  }

  @Test
  void aRailMustSendTheLongestControlMessage() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open()) {
      FabricException refused =
          assertThrows(FabricException.class, () -> host(simulation, Handshake.MAX_BYTES - 1));
      assertEquals(FabricErrno.EMSGSIZE, refused.errno());
      assertTrue(
          refused.getMessage().contains("end at %d bytes".formatted(Handshake.MAX_BYTES - 1)),
          refused::getMessage);
    }
  }

  @Test
  void thatMuchIsEnough() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open();
        Host host = host(simulation, Handshake.MAX_BYTES)) {
      assertEquals(1, host.domains.size());
    }
  }
}
