package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import org.jofi.counters.written.CounterType;
import org.jofi.counters.written.EndpointCounters;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.rdma.nic.FlushLanding;
import org.jofi.rdma.nic.ReceiveBuffers;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.Test;

/** A provider that refuses calls for a while: what depends on them works again afterwards. */
class RefusedCallsTest {
  private static final int ROUNDS = 200_000;
  private static final int RAILS = 2;

  private final Simulation simulation =
      Simulation.of(Profile.TCP).hosts(2).nicsPerHost(RAILS).open();
  private String refused = "";
  private int refusals;
  private int errno = FabricErrno.ENOMEM;

  private Object answer(Method call, Object[] arguments, Callable<Object> real) throws Exception {
    if (!call.getName().equals(refused)) {
      return real.call();
    }
    refusals++;
    return -errno;
  }

  private Host altered(int index) {
    FabricProvider provider = AlteredProvider.of(simulation.host(index).provider(), this::answer);
    return new Host(
        provider,
        provider.discover(FabricHints.any()).subList(0, RAILS),
        index,
        RAILS,
        simulation::nanoTime,
        simulation::idle);
  }

  /** As many times as there are buffers, and more. */
  @Test
  void aRailWhoseReceivesWereRefusedIsHeardAgain() {
    refused = "recv";
    Host right = altered(1);
    Host left = new Host(simulation, 0, RAILS, RAILS);
    int most = 3 * RAILS * ReceiveBuffers.COUNT;
    for (int round = 0; round < most && refusals < most; round++) {
      right.progress();
    }
    assertTrue(refusals >= most, "given up after " + refusals);
    assertEquals(
        refusals, right.endpoint.context.counters().all().get(CounterType.RECEIVES_FAILED));
    refused = "";
    PeerRails there = left.endpoint.controlTo(right.endpoint.addresses());
    int messages = 2 * RAILS * ReceiveBuffers.COUNT;
    int sent = 0;
    for (int round = 0; right.messages.size() < messages; round++) {
      assertTrue(round < ROUNDS, "deaf after " + right.messages.size());
      Packet packet = sent < messages ? left.endpoint.outgoing.take(there) : null;
      if (packet != null) {
        packet.send(64, SentListener.NOBODY, sent++);
      }
      if (left.progress() + right.progress() == 0) {
        simulation.idle();
      }
    }
    left.close();
    right.close();
    simulation.close();
  }

  @Test
  void whatAProviderDoesNotTakeNowIsCounted() {
    Host left = altered(0);
    Host right = new Host(simulation, 1, RAILS, RAILS);
    PeerRails there = left.endpoint.controlTo(right.endpoint.addresses());
    errno = FabricErrno.EAGAIN;
    refused = "send";
    Packet packet = left.endpoint.outgoing.take(there);
    assertNotNull(packet);
    packet.send(64, SentListener.NOBODY, 0);
    for (int round = 0; refusals < 3; round++) {
      assertTrue(round < ROUNDS, "not offered again");
      left.progress();
      simulation.idle();
    }
    EndpointCounters counted = left.endpoint.context.counters();
    assertEquals(
        refusals,
        counted.rails().stream().mapToLong(rail -> rail.get(CounterType.PROVIDER_AGAIN)).sum());
    refused = "";
    for (int round = 0; right.messages.isEmpty(); round++) {
      assertTrue(round < ROUNDS, "never sent");
      if (left.progress() + right.progress() == 0) {
        simulation.idle();
      }
    }
    assertEquals(
        64, counted.rails().stream().mapToLong(rail -> rail.get(CounterType.CONTROL_BYTES)).sum());
    left.close();
    right.close();
    simulation.close();
  }

  /** One rail's trouble is over when it has another endpoint, and not when another rail has. */
  @Test
  void aRailThatCouldNotReachItselfIsFlushedAgain() {
    try (Host host = new Host(simulation, 0, RAILS, RAILS)) {
      FlushLanding landing = host.endpoint.landing;
      assertNull(landing.refusal());
      landing.reach(
          host.endpoint.data(1),
          () -> {
            throw new FabricException("fi_av_insert", FabricErrno.ENOMEM, "no room", "nic 1");
          });
      Failure why = landing.refusal();
      assertNotNull(why);
      assertEquals(FailureCause.UNAVAILABLE, why.cause());
      landing.reopened(host.endpoint.data(0));
      assertEquals(why, landing.refusal());
      landing.reopened(host.endpoint.data(1));
      assertNull(landing.refusal());
    }
    simulation.close();
  }
}
