package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jofi.fabric.MemoryKind;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Comm;
import org.jofi.transport.CommState;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Tuning;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Sends that come before their receives. */
class QueuedSendsTest {
  private static final int TAG = 4;
  private static final int ROUNDS = 1_000_000;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  /** As who has one thread does: posts both, in either order, and then tests. */
  private static void transfer(SimulatedHosts hosts, Pair pair, int bytes, boolean sendFirst) {
    MemorySegment from = hosts.memory(bytes, 3);
    MemorySegment to = hosts.memory(bytes, 100);
    Registration source = pair.send().register(from, Use.SEND);
    Registration target = pair.receive().register(to, Use.RECEIVE);
    long send = sendFirst ? pair.send().isend(source, TAG) : 0;
    long receive = pair.receive().irecv(target, TAG);
    send = sendFirst ? send : pair.send().isend(source, TAG);
    assertEquals(bytes, test(hosts, pair.send(), send));
    assertEquals(bytes, test(hosts, pair.receive(), receive));
    assertEquals(-1, from.mismatch(to));
    source.close();
    target.close();
  }

  /** Nothing but tests. */
  private static long test(SimulatedHosts hosts, Comm comm, long request) {
    assertTrue(request > 0, () -> Result.describe(request));
    long result = comm.test(request);
    for (int round = 0; result == Result.IN_PROGRESS; round++) {
      assertTrue(round < ROUNDS, () -> comm + " hangs, " + hosts.simulation.describe());
      hosts.simulation.idle();
      result = comm.test(request);
    }
    return result;
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void oneThreadSendsToItselfInEitherOrder(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 1, 2)) {
      Pair pair = hosts.connect(hosts.device(0), hosts.device(0));
      for (int bytes : List.of(1, 8, 512, 100_000)) {
        transfer(hosts, pair, bytes, true);
        transfer(hosts, pair, bytes, false);
      }
    }
  }

  @Test
  void longOnesToo() {
    for (Profile profile : List.of(Profile.TCP, Profile.EFA)) {
      try (SimulatedHosts hosts = new SimulatedHosts(profile, 2, 2)) {
        Pair pair = hosts.connect(hosts.device(0), hosts.device(0));
        transfer(hosts, pair, 64 << 20, true);
        transfer(hosts, pair, 64 << 20, false);
      }
    }
  }

  /** Whatever waits longest is not lost, and what comes later does not overtake it. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aQueuedSendHasNoTimeLimit(Profile profile) {
    try (SimulatedHosts hosts =
        new SimulatedHosts(
            profile,
            3,
            2,
            options ->
                options
                    .tuning(Tuning.DEFAULT.withEagerBytes(0))
                    .requestTimeout(Duration.ofSeconds(1))
                    .peerTimeout(Duration.ofSeconds(1)))) {
      Pair pair = hosts.connect();
      Registration source = pair.send().register(hosts.memory(100, 1), Use.SEND);
      Registration target = pair.receive().register(hosts.memory(100, 2), Use.RECEIVE);
      long first = pair.send().isend(source, 0, 60, TAG);
      long end = hosts.simulation.nanoTime() + Duration.ofSeconds(30).toNanos();
      hosts.await("time to pass", () -> hosts.simulation.nanoTime() > end);
      assertEquals(Result.IN_PROGRESS, pair.send().test(first));
      assertEquals(CommState.OPEN, pair.send().state());
      long second = pair.send().isend(source, 0, 70, TAG);
      for (int bytes : List.of(60, 70)) {
        assertEquals(bytes, hosts.await(pair.receive(), pair.receive().irecv(target, TAG)));
      }
      assertEquals(60, hosts.await(pair.send(), first));
      assertEquals(70, hosts.await(pair.send(), second));
    }
  }

  @Test
  void aFullTableAloneRefuses() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 4, 2)) {
      Pair pair = hosts.connect();
      Registration source = pair.send().register(hosts.memory(1000, 1), Use.SEND);
      Registration target = pair.receive().register(hosts.memory(1000, 2), Use.RECEIVE);
      List<Long> sends = new ArrayList<>();
      long id = pair.send().isend(source, 0, 0, TAG);
      while (id > 0) {
        sends.add(id);
        id = pair.send().isend(source, 0, sends.size(), TAG);
      }
      assertEquals(Result.TRY_AGAIN, id);
      assertTrue(sends.size() > 200, () -> "only " + sends.size());
      for (int i = 0; i < sends.size(); i++) {
        long receive = pair.receive().irecv(target, TAG);
        assertEquals(i, hosts.await(pair.receive(), receive));
        assertEquals(i, hosts.await(pair.send(), sends.get(i)));
        if (i == 0) {
          long more = pair.send().isend(source, 0, 1, TAG + 1);
          assertTrue(more > 0);
          assertTrue(pair.send().cancel(more));
        }
      }
    }
  }

  @Test
  void memoryOfAQueuedSendIsInUseUntilItIsTakenBack() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.CXI, 5, 1)) {
      Pair pair = hosts.connect();
      SendComm send = pair.send();
      Registration source = send.register(hosts.memory(100, 1), Use.SEND);
      Registration target = pair.receive().register(hosts.memory(100, 2), Use.RECEIVE);
      long first = send.isend(source, 0, 10, TAG);
      long second = send.isend(source, 0, 20, TAG);
      assertThrows(IllegalStateException.class, () -> source.close());
      assertTrue(send.cancel(first));
      assertFalse(send.cancel(first));
      assertEquals(Result.STALE_REQUEST, send.test(first));
      assertThrows(IllegalStateException.class, () -> source.close());
      assertEquals(20, hosts.await(pair.receive(), pair.receive().irecv(target, TAG)));
      assertFalse(send.cancel(second));
      assertEquals(20, hosts.await(send, second));
      assertFalse(send.cancel(second));
      assertFalse(send.cancel(0));
      long last = send.isend(source, TAG);
      assertThrows(IllegalStateException.class, () -> source.close());
      assertTrue(send.cancel(last));
      source.close();
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void whoeverEndsTheConnectionEndsThem(Profile profile) {
    ends(profile, pair -> pair.send().close(), FailureCause.CLOSED);
    ends(profile, pair -> pair.send().abort(), FailureCause.ABORTED);
    ends(profile, pair -> pair.receive().close(), FailureCause.PEER_CLOSED);
    ends(profile, pair -> pair.receive().abort(), FailureCause.PEER_ABORTED);
  }

  private static void ends(Profile profile, Consumer<Pair> how, FailureCause cause) {
    try (SimulatedHosts hosts =
        new SimulatedHosts(
            profile, 6, 2, options -> options.tuning(Tuning.DEFAULT.withEagerBytes(0)))) {
      Pair pair = hosts.connect();
      Registration source = pair.send().register(hosts.memory(1000, 1), Use.SEND);
      List<Long> sends = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        sends.add(pair.send().isend(source, i % 3));
      }
      Registration onDevice =
          pair.send().register(device(hosts, 0, hosts.memory(1000, 1)), Use.SEND);
      sends.add(pair.send().isend(onDevice, TAG));
      how.accept(pair);
      for (long send : sends) {
        assertEquals(cause.code(), hosts.await(pair.send(), send), cause::words);
      }
    }
  }

  private static Memory device(SimulatedHosts hosts, int host, MemorySegment content) {
    MemorySegment memory =
        hosts.simulation.host(host).allocateDevice(MemoryKind.CUDA, content.byteSize());
    memory.copyFrom(content);
    return Memory.device(MemoryKind.CUDA, 0, memory.address(), memory.byteSize());
  }

  /** More than there are blocks for, of several lengths. */
  @Test
  void stagedOnesWaitForTheirReceivesAndForBlocks() {
    int count = 60;
    int most = 2_500_000;
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 7, 2)) {
      Pair pair = hosts.connect();
      Registration source = pair.send().register(device(hosts, 0, hosts.memory(most, 1)), Use.SEND);
      Registration target = pair.receive().register(hosts.memory(most, 2), Use.RECEIVE);
      List<Long> sends = new ArrayList<>();
      List<Long> receives = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        sends.add(pair.send().isend(source, 0, length(i), i % 2));
      }
      for (int i = 0; i < count; i++) {
        receives.add(pair.receive().irecv(target, i % 2));
      }
      for (int i = 0; i < count; i++) {
        assertEquals(length(i), hosts.await(pair.receive(), receives.get(i)));
        assertEquals(length(i), hosts.await(pair.send(), sends.get(i)));
      }
      source.close();
    }
  }

  private static int length(int index) {
    return index % 5 == 0 ? 100 + index : 1_500_000 + index;
  }
}
