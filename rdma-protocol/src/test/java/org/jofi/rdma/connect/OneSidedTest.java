package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jofi.allocation.Allocation;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.rdma.onesided.OneSided;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OneSidedTest {
  private static final int SEEDS = Integer.getInteger("jofi.seeds", 100) / 10;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  private static Simulation simulation(Profile profile, long seed, int rails, FaultPlan faults) {
    return Simulation.of(profile).seed(seed).nicsPerHost(rails).faults(faults).open();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void everyByteIsWhereItBelongsWhenARequestIsOver(Profile profile) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      int rails = 1 + (int) seed % 5;
      try (Simulation simulation = simulation(profile, seed, rails, FaultPlan.survivable())) {
        Pair pair = Pair.of(simulation, profile, rails);
        new OneSidedTraffic(pair, seed, 60).run();
        pair.finish(simulation);
      }
    }
  }

  /**
   * An error that says that the peer is not reached over a rail is the rail's, not the request's.
   */
  @ParameterizedTest
  @MethodSource("profiles")
  void whatDoesNotReachThePeerOverARailGoesOverAnother(Profile profile) {
    int length = 600_000;
    for (long seed = 1; seed <= SEEDS; seed++) {
      try (Simulation simulation = simulation(profile, seed, 3, FaultPlan.none())) {
        Pair pair = Pair.of(simulation, profile, 3);
        DataRegistration here = pair.memory(pair.sends, length);
        DataRegistration there = pair.memory(pair.receives, length);
        long at = here.range().address();
        simulation.host(1).nic(1).kill();
        for (int round = 0; round < 6; round++) {
          boolean reads = round % 2 == 1;
          Pair.fill(Pair.segment(reads ? there : here), round);
          long request =
              reads
                  ? Posting.read(pair.sends, at, length, here, Pair.remote(there), 0)
                  : Posting.write(pair.sends, at, length, here, Pair.remote(there), 0);
          assertEquals(
              length,
              pair.outcome(pair.sends, request),
              () -> "%s: %s".formatted(pair, pair.sends.failure(request)));
          assertEquals(-1, Pair.segment(here).mismatch(Pair.segment(there)), pair.toString());
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aRequestAllocatesNothing(Profile profile) {
    try (Simulation simulation = simulation(profile, 1, 2, FaultPlan.none())) {
      Pair pair = Pair.of(simulation, profile, 2);
      DataRegistration here = pair.memory(pair.receives, 8192);
      RemoteMemory there = Pair.remote(pair.memory(pair.sends, 8192));
      long address = here.range().address();
      ReceiveConnection connection = pair.receives;
      Runnable requests =
          () -> {
            for (int i = 0; i < 1000; i++) {
              long request =
                  switch (i & 3) {
                    case 0 -> Posting.write(connection, address, 4096, here, there, 4096);
                    case 1 -> connection.oneSided.writeInline(address, 256, there, 17);
                    case 2 -> Posting.read(connection, address, 4096, here, there, 0);
                    default -> connection.flushes.flush(address, 8192, here);
                  };
              long result = Result.IN_PROGRESS;
              while (result == Result.IN_PROGRESS) {
                if (pair.progress() == 0) {
                  simulation.idle();
                }
                result = connection.test(request);
              }
              if (result <= 0) {
                throw new IllegalStateException(i + ": " + result);
              }
            }
          };
      Allocation.assertNone(requests);
      pair.finish(simulation);
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void asManyAsThereAreSlotsAreTakenAtOnceAndIdsOfKindsDiffer(Profile profile) {
    try (Simulation simulation = simulation(profile, 2, 2, FaultPlan.none())) {
      Pair pair = Pair.of(simulation, profile, 2);
      DataRegistration here = pair.memory(pair.receives, 64 * OneSided.REQUESTS);
      RemoteMemory there = Pair.remote(pair.memory(pair.sends, 64 * OneSided.REQUESTS));
      long address = here.range().address();
      Set<Long> ids = new HashSet<>();
      for (long i = 0; i < OneSided.REQUESTS; i++) {
        ids.add(
            i % 2 == 0
                ? Posting.read(pair.receives, address + 64 * i, 64, here, there, 64 * i)
                : pair.receives.oneSided.writeInline(address + 64 * i, 64, there, 64 * i));
      }
      assertEquals(
          Result.TRY_AGAIN,
          Posting.read(pair.receives, address, 64, here, there, 0),
          "more than slots");
      ids.add(pair.receives.flushes.flush(address, 64, here));
      ids.add(pair.receive(address, 64, 1, here));
      assertEquals(OneSided.REQUESTS + 2, ids.size());
      ids.remove(pair.receive(address, 64, 1, here));
      for (long id : ids) {
        if (!pair.receives.receiver.requests().owns(id)) {
          assertEquals(64, pair.outcome(pair.receives, id));
          assertNull(pair.receives.failure(id));
        }
      }
      assertTrue(Posting.read(pair.receives, address, 64, here, there, 0) > 0);
      pair.finish(simulation);
    }
  }

  private static long oneSided(
      Pair pair, boolean writes, long address, DataRegistration here, RemoteMemory there) {
    return writes
        ? Posting.write(pair.sends, address, 4096, here, there, 0)
        : Posting.read(pair.sends, address, 4096, here, there, 0);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void anErrorFailsItsOwnRequestAndNoOther(Profile profile) {
    anErrorFailsItsOwnRequestAndNoOther(profile, true);
    anErrorFailsItsOwnRequestAndNoOther(profile, false);
  }

  private static void anErrorFailsItsOwnRequestAndNoOther(Profile profile, boolean writes) {
    try (Simulation simulation = simulation(profile, 3, 2, FaultPlan.none())) {
      Pair pair = Pair.of(simulation, profile, 2);
      DataRegistration here = pair.memory(pair.sends, 8192);
      RemoteMemory good = Pair.remote(pair.memory(pair.receives, 8192));
      // What breaks its connection is tried over the other rail, too.
      boolean breaks = profile.equals(Profile.TCP);
      RemoteMemory bad =
          RemoteMemory.of(
              8192,
              new long[] {good.address(0), good.address(1)},
              new long[] {breaks ? 0x6bad : good.key(0), 0x7bad});
      long address = here.range().address();
      // Of both rails: what fails first over one may be its connection's fault.
      for (int first = 0; first < 4; first++) {
        assertEquals(
            4096,
            pair.outcome(pair.sends, Posting.write(pair.sends, address, 4096, here, good, 0)));
      }
      // Of the other kind: beside others of its own, a short one goes over one rail.
      long before = oneSided(pair, !writes, address, here, good);
      long wrong = oneSided(pair, writes, address + 4096, here, bad);
      long after = oneSided(pair, writes, address, here, good);
      assertEquals(4096, pair.outcome(pair.sends, before));
      assertEquals(FailureCause.FABRIC.code(), pair.outcome(pair.sends, wrong));
      Failure failure = pair.sends.failure(wrong);
      assertNotNull(failure);
      assertTrue(failure.where().contains("data rail 1"), failure::toString);
      assertNotEquals(0, failure.errno());
      assertEquals(4096, pair.outcome(pair.sends, after));
      assertNull(pair.sends.failure(after));
      assertNull(pair.sends.failure());
      pair.finish(simulation);
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aDeadPeerFailsAllThatIsPendingWithAType(Profile profile) {
    try (Simulation simulation = simulation(profile, 4, 2, FaultPlan.none())) {
      Pair pair = Pair.of(simulation, profile, 2);
      DataRegistration here = pair.memory(pair.receives, 8192);
      RemoteMemory there = Pair.remote(pair.memory(pair.sends, 8192));
      long address = here.range().address();
      assertEquals(
          4096,
          pair.outcome(pair.receives, Posting.write(pair.receives, address, 4096, here, there, 0)),
          "while it lives");
      long receive = pair.receive(address, 64, 1, here);
      List<Long> requests = new ArrayList<>();
      requests.add(Posting.write(pair.receives, address, 4096, here, there, 0));
      requests.add(Posting.read(pair.receives, address, 4096, here, there, 0));
      requests.add(pair.receives.oneSided.writeInline(address, 256, there, 0));
      simulation.host(0).kill();
      requests.add(Posting.write(pair.receives, address, 4096, here, there, 0));
      requests.add(receive);
      long start = simulation.nanoTime();
      List<Long> results = new ArrayList<>();
      requests.forEach(request -> results.add(pair.outcome(pair.receives, request, pair.right)));
      assertTrue(simulation.nanoTime() - start < 5_000_000_000L, "within the bound");
      assertEquals(
          Set.of(FailureCause.PEER_LOST.code()),
          Set.copyOf(results),
          () -> "%s: %s".formatted(pair, results));
      long late = Posting.read(pair.receives, address, 4096, here, there, 0);
      assertEquals(FailureCause.PEER_LOST.code(), pair.outcome(pair.receives, late, pair.right));
      long flush = pair.receives.flushes.flush(address, 64, here);
      assertEquals(
          FailureCause.PEER_LOST.code(),
          pair.outcome(pair.receives, flush, pair.right),
          "the side was given up");
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aCloseFailsWhatIsInFlightOnceItIsBack(Profile profile) {
    for (long seed = 1; seed <= 50; seed++) {
      try (Simulation simulation = simulation(profile, seed, 2, FaultPlan.survivable())) {
        Pair pair = Pair.of(simulation, profile, 2);
        DataRegistration here = pair.memory(pair.receives, 1 << 17);
        RemoteMemory there = Pair.remote(pair.memory(pair.sends, 1 << 17));
        long address = here.range().address();
        List<Long> requests = new ArrayList<>();
        for (long i = 0; i < 16; i++) {
          requests.add(Posting.write(pair.receives, address, 4096, here, there, 4096 * i));
          requests.add(
              Posting.read(pair.receives, address + 4096 * (16 + i), 4096, here, there, 0));
          requests.add(pair.receives.oneSided.writeInline(address, 128, there, 65_536 + 128 * i));
          requests.add(pair.receives.flushes.flush(address + 64 * i, 4096, here));
        }
        for (long round = 0; round < seed % 7; round++) {
          pair.progress();
          simulation.idle();
        }
        boolean aborts = seed % 2 == 0;
        if (aborts) {
          pair.right.connections.abort(pair.receives);
        } else {
          pair.right.connections.close(pair.receives);
        }
        Set<Long> expected =
            Set.of(128L, 4096L, aborts ? FailureCause.ABORTED.code() : FailureCause.CLOSED.code());
        for (long request : requests) {
          long result = pair.outcome(pair.receives, request);
          assertTrue(expected.contains(result), () -> "%s: %d".formatted(pair, result));
        }
        assertNotEquals(
            0,
            requests.stream().filter(id -> pair.receives.failure(id) != null).count(),
            () -> pair + ": nothing was in flight");
        long late = pair.receives.flushes.flush(address, 64, here);
        assertTrue(pair.outcome(pair.receives, late) < 0, "posted to a closed side");
        pair.finish(simulation);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void memoryThatWasDeregisteredMeanwhileFailsItsRequest(Profile profile) {
    try (Simulation simulation = simulation(profile, 6, 1, FaultPlan.none())) {
      Pair pair = Pair.of(simulation, profile, 1);
      DataRegistration here = pair.memory(pair.receives, 4096);
      RemoteMemory there = Pair.remote(pair.memory(pair.sends, 4096));
      long address = here.range().address();
      pair.right.host.device.invalidate(MemoryKind.HOST, 0, address, 4096);
      long[] requests = {
        Posting.write(pair.receives, address, 64, here, there, 0),
        Posting.read(pair.receives, address, 64, here, there, 0),
        pair.receives.flushes.flush(address, 64, here)
      };
      for (long request : requests) {
        assertEquals(FailureCause.CLOSED.code(), pair.receives.test(request));
        Failure failure = pair.receives.failure(request);
        assertNotNull(failure);
        assertTrue(failure.detail().contains("not registered any more"), failure::toString);
      }
      pair.finish(simulation);
    }
  }

  /** Nothing, also at the very end, is written and read. */
  @ParameterizedTest
  @MethodSource("profiles")
  void nothingIsTransferredAsWell(Profile profile) {
    try (Simulation simulation = simulation(profile, 7, 2, FaultPlan.none())) {
      Pair pair = Pair.of(simulation, profile, 2);
      DataRegistration here = pair.memory(pair.sends, 4096);
      RemoteMemory there = Pair.remote(pair.memory(pair.receives, 4096));
      assertEquals(0, pair.outcome(pair.sends, Posting.write(pair.sends, 0, 0, here, there, 4096)));
      assertEquals(0, pair.outcome(pair.sends, Posting.read(pair.sends, 0, 0, here, there, 4096)));
      assertEquals(0, pair.outcome(pair.sends, pair.sends.oneSided.writeInline(0, 0, there, 4096)));
      assertEquals(Result.NOTHING_TO_DO, pair.receives.flushes.flush(0, 0, here));
      pair.finish(simulation);
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void inlineBytesAreTheCallersAtOnce(Profile profile) {
    try (Simulation simulation = simulation(profile, 8, 1, FaultPlan.none())) {
      Pair pair = Pair.of(simulation, profile, 1);
      int most = OperationSink.INLINE_BYTES;
      DataRegistration target = pair.memory(pair.receives, most);
      RemoteMemory there = Pair.remote(target);
      MemorySegment heapless = pair.arena.allocate(most);
      for (int length : IntStream.of(1, 8, most).toArray()) {
        Pair.fill(heapless, length);
        long request = pair.sends.oneSided.writeInline(heapless.address(), length, there, 0);
        heapless.fill((byte) 0);
        assertEquals(length, pair.outcome(pair.sends, request));
        for (int at = 0; at < length; at++) {
          assertEquals(
              Pair.pattern(length, at), Pair.segment(target).get(ValueLayout.JAVA_BYTE, at));
        }
      }
      pair.finish(simulation);
    }
  }
}
