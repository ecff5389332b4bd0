package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.Callable;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;

/** A provider that takes nothing for one peer, such as one whose queue is full. */
class RefusedPeerTest {
  private static final int ROUNDS = 200_000;

  /** Whom nothing is taken for. */
  private long refused = Long.MIN_VALUE;

  private int refusals;

  private Object answer(Method call, Object[] arguments, Callable<Object> real) throws Exception {
    if (call.getName().equals("send") && (long) arguments[3] == refused) {
      refusals++;
      return -FabricErrno.EAGAIN;
    }
    return real.call();
  }

  private static Packet packet(EndpointDriver driver, PeerRails to) {
    Packet packet = driver.outgoing.take(to);
    assertNotNull(packet);
    return packet;
  }

  /** It is tried once per round, and what waits behind it for others goes by. */
  @Test
  void whatIsRefusedForOneHoldsUpNobodyElse() {
    try (Simulation simulation = Simulation.of(Profile.EFA).hosts(3).open()) {
      FabricProvider provider = AlteredProvider.of(simulation.host(0).provider(), this::answer);
      Host left =
          new Host(
              provider,
              List.of(provider.discover(FabricHints.any()).getFirst()),
              0,
              1,
              simulation::nanoTime,
              simulation::idle);
      Host slow = new Host(simulation, 1, 1, 1);
      Host other = new Host(simulation, 2, 1, 1);
      PeerRails toSlow = left.endpoint.controlTo(slow.endpoint.addresses());
      PeerRails toOther = left.endpoint.controlTo(other.endpoint.addresses());
      refused = toSlow.number();
      int waiting = 5;
      for (int i = 0; i < waiting; i++) {
        packet(left.endpoint, toSlow).send(64, SentListener.NOBODY, i);
      }
      packet(left.endpoint, toOther).send(64, SentListener.NOBODY, 9);
      int rounds = 0;
      while (other.messages.isEmpty()) {
        assertTrue(++rounds < ROUNDS, "a message waits behind those for another peer");
        if (left.progress() + other.progress() == 0) {
          simulation.idle();
        }
      }
      assertTrue(refusals <= rounds + 1, "tried more than once in a round");
      refused = Long.MIN_VALUE;
      while (slow.messages.size() < waiting) {
        assertTrue(++rounds < ROUNDS, "what was refused is not tried again");
        if (left.progress() + slow.progress() == 0) {
          simulation.idle();
        }
      }
      assertEquals(1, other.messages.size());
      left.close();
      slow.close();
      other.close();
    }
  }
}
