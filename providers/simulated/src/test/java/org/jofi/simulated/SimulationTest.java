package org.jofi.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.function.IntSupplier;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryRegion;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Link;
import org.jofi.simulated.profile.LinkMap;
import org.jofi.simulated.profile.Profile;
import org.jofi.simulated.stall.RunLimits;
import org.jofi.simulated.stall.SimulationStalledException;
import org.junit.jupiter.api.Test;

/** The driver: it ends, whatever the participants do. */
class SimulationTest {
  private static final RunLimits SHORT = new RunLimits(Duration.ofSeconds(1), 1000, 1000);

  /** A participant out of a step and a condition. */
  private record Scripted(String name, IntSupplier work, java.util.function.BooleanSupplier done)
      implements Participant {
    @Override
    public int step() {
      return work.getAsInt();
    }

    @Override
    public boolean isDone() {
      return done.getAsBoolean();
    }

    @Override
    public String pending() {
      return "waits for what never comes";
    }
  }

  @Test
  void noProgressIsAFailureWithADump() {
    try (Pair pair = new Pair(Profile.TCP, builder -> builder.limits(SHORT))) {
      MemorySegment memory = pair.memory(64);
      MemoryRegion region = pair.left.register(memory, Access.LOCAL);
      assertEquals(
          0,
          pair.left.endpoint.recv(memory.address(), 64, region.descriptor(), AddressVector.ANY, 9));
      pair.simulation.add(
          pair.simulation.host(0), new Scripted("waiter", pair.left::poll, () -> false));
      SimulationStalledException stalled =
          assertThrows(SimulationStalledException.class, pair.simulation::run);
      String dump = stalled.getMessage();
      assertTrue(dump.contains("no progress"), dump);
      assertTrue(dump.contains("waiter: waits for what never comes"), dump);
      assertTrue(dump.contains("1 receives posted"), dump);
      assertTrue(dump.contains("contexts in flight {9}"), dump);
      assertTrue(dump.contains("seed 1, profile tcp"), dump);
    }
  }

  @Test
  void livelockIsAFailure() {
    try (Simulation simulation = Simulation.of(Profile.EFA).limits(SHORT).open()) {
      simulation.add(simulation.host(0), new Scripted("busy", () -> 1, () -> false));
      SimulationStalledException stalled =
          assertThrows(SimulationStalledException.class, simulation::run);
      assertTrue(stalled.getMessage().contains("busy"), stalled::getMessage);
    }
  }

  @Test
  void pollingForeverInsideAStepIsAFailure() {
    try (Pair pair = new Pair(Profile.EFA, builder -> builder.limits(SHORT))) {
      pair.simulation.add(
          pair.simulation.host(0),
          new Scripted(
              "looper",
              () -> {
                while (!pair.left.has(1)) {
                  pair.left.poll();
                }
                return 1;
              },
              () -> false));
      SimulationStalledException stalled =
          assertThrows(SimulationStalledException.class, pair.simulation::run);
      assertTrue(stalled.getMessage().contains("polls in a loop"), stalled::getMessage);
    }
  }

  @Test
  void whatAParticipantThrowsIsTheCause() {
    IllegalArgumentException exception = new IllegalArgumentException("no good");
    assertIsTheCause(exception, throwing(exception));
    AssertionError error = new AssertionError("not so");
    assertIsTheCause(error, failing(error));
  }

  private static void assertIsTheCause(Throwable thrown, IntSupplier work) {
    try (Simulation simulation = Simulation.of(Profile.EFA).open()) {
      simulation.add(simulation.host(0), new Scripted("thrower", work, () -> false));
      SimulationStalledException failed =
          assertThrows(SimulationStalledException.class, simulation::run);
      assertSame(thrown, failed.getCause());
      assertTrue(failed.getMessage().contains("thrower threw " + thrown), failed::getMessage);
      assertTrue(failed.getMessage().contains("seed 1, profile efa"), failed::getMessage);
    }
  }

  private static IntSupplier throwing(RuntimeException exception) {
    return () -> {
      throw exception;
    };
  }

  private static IntSupplier failing(AssertionError error) {
    return () -> {
      throw error;
    };
  }

  @Test
  void railsAreStruckThatCanBe() {
    FaultPlan plan = FaultPlan.none().with(Fault.DEAD_RAIL, 1).with(Fault.STALLED_RAIL, 1);
    for (long seed = 1; seed <= 20; seed++) {
      long of = seed;
      // One of eight NICs on each host has an endpoint.
      try (Pair pair = new Pair(Profile.CXI, b -> b.seed(of).nicsPerHost(8).faults(plan))) {
        pair.left.endpoint.inject(0, 0, 0);
        assertEquals(1, pair.simulation.faults().get(Fault.DEAD_RAIL));
        SimulatedNic left = pair.simulation.host(0).nic(0);
        SimulatedNic right = pair.simulation.host(1).nic(0);
        assertTrue(left.isDead() ^ right.isDead(), "seed " + seed);
        pair.left.endpoint.close();
        pair.right.endpoint.close();
      }
    }
  }

  @Test
  void faultsWithoutAVictimDoNotCount() {
    FaultPlan plan = FaultPlan.none().with(Fault.DEAD_RAIL, 1).with(Fault.STALLED_RAIL, 1);
    try (Pair pair = new Pair(Profile.CXI, builder -> builder.faults(plan))) {
      pair.simulation.hosts().forEach(host -> host.nic(0).kill());
      pair.left.endpoint.inject(0, 0, 0);
      assertEquals(2, pair.simulation.faults().get(Fault.DEAD_RAIL));
      assertEquals(0, pair.simulation.faults().get(Fault.STALLED_RAIL));
    }
  }

  @Test
  void realTimeHasNoPeerThatCouldDie() {
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> new SimulatedProvider(Strictness.THROW, FaultPlan.all(), 1));
    assertTrue(refused.getMessage().contains("dead-peer"), refused::getMessage);
  }

  @Test
  void deadlinesAreReachedWithoutEvents() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open()) {
      long deadline = Duration.ofSeconds(5).toNanos();
      simulation.add(
          simulation.host(0),
          new Scripted("patient", () -> 0, () -> simulation.nanoTime() >= deadline));
      simulation.run();
      assertTrue(simulation.nanoTime() >= deadline);
    }
  }

  @Test
  void participantsOfDeadHostsStop() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open()) {
      simulation.add(simulation.host(1), new Scripted("victim", () -> 1, () -> false));
      simulation.host(1).kill();
      simulation.run();
      assertEquals(1, simulation.faults().get(Fault.DEAD_PEER));
    }
  }

  @Test
  void operationsToADeadPeerFailInTime() {
    for (Profile profile : Profile.ALL) {
      try (Pair pair = new Pair(profile)) {
        connect(pair);
        pair.settle();
        pair.simulation.host(1).kill();
        long start = pair.simulation.nanoTime();
        MemorySegment memory = pair.memory(64);
        MemoryRegion region = pair.left.register(memory, Access.ALL);
        assertEquals(
            0,
            pair.left.endpoint.read(memory.address(), 8, region.descriptor(), 0, 0, 1, 3),
            profile.name());
        while (!pair.left.has(3)) {
          pair.simulation.idle();
          pair.left.poll();
        }
        assertEquals(profile.errors().unreachable(), pair.left.of(3).errno(), profile.name());
        assertTrue(
            pair.simulation.nanoTime() - start < Duration.ofSeconds(1).toNanos(),
            "took until " + pair.simulation.nanoTime());
      }
    }
  }

  @Test
  void stalledRailGoesOnAfterwards() {
    try (Pair pair = new Pair(Profile.EFA)) {
      pair.simulation.host(0).nic(0).stall(Duration.ofMillis(7));
      assertEquals(0, pair.left.endpoint.send(0, 0, 0, 0, 1));
      pair.settle();
      assertEquals(0, pair.left.of(1).errno());
      assertTrue(pair.simulation.nanoTime() >= Duration.ofMillis(7).toNanos());
    }
  }

  @Test
  void linksDifferByLatencyAndBandwidth() {
    Link near = Link.of(1, 100);
    Link far = Link.of(1000, 1);
    assertTrue(transferNanos(LinkMap.uniform(near), 8) < 10_000);
    assertTrue(transferNanos(LinkMap.uniform(far), 8) >= 1_000_000);
    // 1 MiB at 1 Gbit/s takes more than 8 ms.
    assertTrue(transferNanos((fh, fn, th, tn) -> fh == 0 ? far : near, 1 << 20) >= 8_000_000);
  }

  private static long transferNanos(LinkMap links, long bytes) {
    try (Pair pair = new Pair(Profile.EFA, builder -> builder.links(links))) {
      MemorySegment memory = pair.memory(bytes);
      MemoryRegion region = pair.left.register(memory, Access.LOCAL);
      assertEquals(0, pair.left.endpoint.send(memory.address(), bytes, region.descriptor(), 0, 1));
      while (!pair.left.has(1)) {
        pair.simulation.idle();
        pair.left.poll();
      }
      return pair.simulation.nanoTime();
    }
  }

  private static void connect(Pair pair) {
    while (pair.left.endpoint.inject(0, 0, 0) == -FabricErrno.EAGAIN) {
      pair.simulation.idle();
    }
  }
}
