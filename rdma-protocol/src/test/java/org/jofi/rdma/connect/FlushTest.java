package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FlushTest {
  private static final int SEEDS = Integer.getInteger("jofi.seeds", 100) / 10;
  private static final int BYTES = 4096;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  static Stream<Arguments> profilesWithDeviceMemory() {
    return profiles()
        .filter(profile -> profile.negotiation().deviceMemory().contains(MemoryKind.CUDA))
        .flatMap(profile -> Stream.of(1, 2, 4).map(rails -> Arguments.of(profile, rails)));
  }

  @ParameterizedTest
  @MethodSource("profilesWithDeviceMemory")
  void whatWasReceivedIsStaleBeforeAndRightAfter(Profile profile, int rails) {
    FaultPlan faults = FaultPlan.survivable().with(Fault.STALE_UNTIL_FLUSH);
    for (long seed = 1; seed <= SEEDS; seed++) {
      try (Simulation simulation =
          Simulation.of(profile).seed(seed).nicsPerHost(rails).faults(faults).open()) {
        Pair pair = Pair.of(simulation, profile, rails);
        MemorySegment device = simulation.host(1).allocateDevice(MemoryKind.CUDA, BYTES);
        DataRegistration target =
            pair.register(
                pair.receives, BufferRange.device(MemoryKind.CUDA, 0, 1, device.address(), BYTES));
        DataRegistration source = pair.memory(pair.sends, BYTES);
        Pair.fill(Pair.segment(source), (int) seed);
        long receive = pair.receive(device.address(), BYTES, 3, target);
        long[] send = {-2};
        pair.await(
            "matching",
            () -> {
              send[0] = Posting.send(pair.sends.sender, source.range().address(), BYTES, 3, source);
              return send[0] > 0;
            });
        assertEquals(BYTES, pair.outcome(pair.receives, receive));
        assertNotEquals(-1, device.mismatch(Pair.segment(source)), "nothing was stale");
        assertEquals(
            0, stripesSeen(device, Pair.segment(source)), () -> pair + ": a stripe was not stale");
        long flush = pair.receives.flushes.flush(device.address(), BYTES, target);
        assertEquals(BYTES, pair.outcome(pair.receives, flush));
        assertEquals(-1, device.mismatch(Pair.segment(source)), () -> pair + ": stale");
        assertEquals(BYTES, pair.outcome(pair.sends, send[0]));
        pair.finish(simulation);
      }
    }
  }

  /** How many of the pieces of 64 bytes are as sent. */
  private static long stripesSeen(MemorySegment found, MemorySegment sent) {
    return Stream.iterate(0L, at -> at < BYTES, at -> at + 64)
        .filter(at -> found.asSlice(at, 64).mismatch(sent.asSlice(at, 64)) < 0)
        .count();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void manyFlushesRunAtOnce(Profile profile) {
    for (long seed = 1; seed <= 20; seed++) {
      try (Simulation simulation =
          Simulation.of(profile).seed(seed).nicsPerHost(3).faults(FaultPlan.survivable()).open()) {
        Pair pair = Pair.of(simulation, profile, 3);
        DataRegistration memory = pair.memory(pair.receives, BYTES);
        long address = memory.range().address();
        long[] flushes = new long[64];
        for (int i = 0; i < flushes.length; i++) {
          flushes[i] = pair.receives.flushes.flush(address + i, i + 1, memory);
        }
        for (int i = 0; i < flushes.length; i++) {
          assertEquals(i + 1, pair.outcome(pair.receives, flushes[i]), pair.toString());
        }
        pair.finish(simulation);
      }
    }
  }

  /** What came over it may be lost: nobody may take it for flushed. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aDeadRailFailsTheFlushAndIsNamed(Profile profile) {
    try (Simulation simulation = Simulation.of(profile).seed(2).nicsPerHost(2).open()) {
      Pair pair = Pair.of(simulation, profile, 2);
      DataRegistration memory = pair.memory(pair.receives, BYTES);
      long address = memory.range().address();
      assertEquals(
          64, pair.outcome(pair.receives, pair.receives.flushes.flush(address, 64, memory)));
      long flying = pair.receives.flushes.flush(address, 64, memory);
      simulation.host(1).nic(1).kill();
      long start = simulation.nanoTime();
      assertEquals(FailureCause.FABRIC.code(), pair.outcome(pair.receives, flying));
      long late = pair.receives.flushes.flush(address, 64, memory);
      assertEquals(FailureCause.FABRIC.code(), pair.outcome(pair.receives, late));
      assertTrue(simulation.nanoTime() - start < 5_000_000_000L, "within the bound");
      Failure failure = pair.receives.failure(late);
      assertNotNull(failure);
      assertTrue(failure.where().startsWith("flush"), failure::toString);
      assertTrue(failure.where().contains("data rail 1"), failure::toString);
      assertNull(pair.receives.failure(), "the peer is not lost");
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aPeerThatClosedIsNotNeeded(Profile profile) {
    try (Simulation simulation = Simulation.of(profile).seed(3).nicsPerHost(2).open()) {
      Pair pair = Pair.of(simulation, profile, 2);
      DataRegistration memory = pair.memory(pair.receives, BYTES);
      long address = memory.range().address();
      pair.left.connections.close(pair.sends);
      pair.await("hearing of it", () -> pair.receives.failure() != null);
      assertEquals(
          64, pair.outcome(pair.receives, pair.receives.flushes.flush(address, 64, memory)));
      pair.right.connections.close(pair.receives);
      long late = pair.receives.flushes.flush(address, 64, memory);
      assertEquals(FailureCause.CLOSED.code(), pair.outcome(pair.receives, late));
      pair.finish(simulation);
    }
  }
}
