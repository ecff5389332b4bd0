package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.IdentityHashMap;
import java.util.List;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointLimits;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.rdma.wire.HandshakeEncoder;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;

/** Endpoints whose sends are shorter than what their NIC negotiated. */
class ShortSendsTest {

  /** What stands for each object that was handed out, so that the same is always the same. */
  private final IdentityHashMap<Object, Object> stands = new IdentityHashMap<>();

  /** As it is, but for the limits of the endpoints that come from it. */
  @SuppressWarnings("ReferenceEquality") // Each stands for itself.
  private <T> T with(long sendBytes, Class<T> type, T real) {
    Object found = stands.get(real);
    if (found == null) {
      found =
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (self, method, arguments) -> {
                if (method.getName().equals("equals")) {
                  return self == arguments[0];
                }
                try {
                  return replaced(sendBytes, method.invoke(real, arguments));
                } catch (InvocationTargetException thrown) {
                  throw thrown.getCause();
                }
              });
      stands.put(real, found);
    }
    return type.cast(found);
  }

  private Object replaced(long sendBytes, Object answer) {
    return switch (answer) {
      case Fabric fabric -> with(sendBytes, Fabric.class, fabric);
      case Domain domain -> with(sendBytes, Domain.class, domain);
      case Endpoint endpoint -> with(sendBytes, Endpoint.class, endpoint);
      case EndpointLimits limits ->
          new EndpointLimits(sendBytes, limits.rmaBytes(), 0, limits.injectedRmaBytes());
      case null, default -> answer;
    };
  }

  private Host host(Simulation simulation, long sendBytes) {
    FabricProvider provider = with(sendBytes, FabricProvider.class, simulation.host(0).provider());
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
          assertThrows(
              FabricException.class, () -> host(simulation, HandshakeEncoder.MAX_BYTES - 1));
      assertEquals(FabricErrno.EMSGSIZE, refused.errno());
      assertTrue(
          refused
              .getMessage()
              .contains("end at %d bytes".formatted(HandshakeEncoder.MAX_BYTES - 1)),
          refused::getMessage);
    }
  }

  @Test
  void thatMuchIsEnough() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open();
        Host host = host(simulation, HandshakeEncoder.MAX_BYTES)) {
      assertEquals(1, host.domains.size());
    }
  }
}
