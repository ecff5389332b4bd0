package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.rdma.driver.AlteredProvider;
import org.jofi.rdma.driver.Host;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;

/** Rails whose endpoints closed, and of which others were opened. */
class ReopenedRailTest {
  private static final int SILENT = 1;
  private static final int RAILS = 2;
  private static final int BYTES = 1 << 20;
  private static final long SECOND = 1_000_000_000;

  /** Says of each endpoint of the silent rail that it is where the first one was. */
  private static final class SameAddress implements AlteredProvider.Alteration {
    int opened;
    private boolean isOpening;
    private Object first = new byte[0];

    @Override
    public Object answer(Method call, Object[] arguments, Callable<Object> real) throws Exception {
      Object answer = real.call();
      switch (call.getName()) {
        case "openEndpoint" -> {
          String label = ((EndpointRequest) arguments[0]).label();
          isOpening = label.endsWith("data rail " + SILENT);
          opened += isOpening ? 1 : 0;
        }
        case "address" -> {
          if (isOpening) {
            isOpening = false;
            first = opened == 1 ? answer : first;
            return first;
          }
        }
        default -> {
          // As it is.
        }
      }
      return answer;
    }
  }

  private static Node node(Simulation simulation, int index, FabricProvider provider) {
    Host host =
        new Host(
            provider,
            provider.discover(FabricHints.any()).subList(0, RAILS),
            index,
            RAILS,
            simulation::nanoTime,
            simulation::idle);
    return new Node(host, Profile.TCP.behaviour().writeData(), index, simulation::nanoTime);
  }

  /** As where ports are given: what counts is which endpoint it is, and not where. */
  @Test
  void oneAtTheSameAddressIsAnother() {
    try (Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(RAILS).open();
        Arena arena = Arena.ofShared()) {
      SameAddress altered = new SameAddress();
      Linked linked =
          new Linked(
              simulation,
              arena,
              node(simulation, 0, simulation.host(0).provider()),
              node(simulation, 1, AlteredProvider.of(simulation.host(1).provider(), altered)),
              BYTES);
      for (int at = 0; at < BYTES; at++) {
        linked.source.set(ValueLayout.JAVA_BYTE, at, (byte) (at * 31 + (at >> 12)));
      }
      long receive = linked.receive(BYTES);
      linked.pass(SECOND / 10, linked.left, linked.right);
      simulation.host(0).nic(SILENT).stall(Duration.ofHours(1));
      long start = simulation.nanoTime();
      linked.queue(BYTES);
      assertEquals(BYTES, linked.outcome(linked.receiving, receive, linked.left, linked.right)[0]);
      assertEquals(-1, linked.source.mismatch(linked.target));
      long took = simulation.nanoTime() - start;
      assertTrue(took < 9 * SECOND, "ms: " + took / 1_000_000);
      linked.pass(2 * SECOND, linked.left, linked.right);
      assertEquals(2, altered.opened, "it was closed again and again");
      linked.left.abort();
      linked.right.abort();
      linked.from.release();
      linked.to.release();
    }
  }
}
