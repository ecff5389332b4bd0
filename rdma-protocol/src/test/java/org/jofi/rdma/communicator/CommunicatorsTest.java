package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Comm;
import org.jofi.transport.CommState;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.ListenComm;
import org.jofi.transport.ReceiveGroup;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jofi.transport.Tuning;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CommunicatorsTest {
  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void messagesOfAllSizesArrive(Profile profile) {
    for (int rails : List.of(1, 2, 4)) {
      try (SimulatedHosts hosts = new SimulatedHosts(profile, 1, rails)) {
        Pair pair = hosts.connect();
        for (int bytes : List.of(0, 1, 8, 511, 512, 4096, 100_000)) {
          transfer(hosts, pair, bytes);
        }
      }
    }
  }

  private static void transfer(SimulatedHosts hosts, Pair pair, int bytes) {
    MemorySegment from = hosts.memory(bytes + 1, 3);
    MemorySegment to = hosts.memory(bytes + 1, 100);
    Registration source = pair.send().register(from, Use.SEND, Use.RECEIVE);
    Registration target = pair.receive().register(to, Use.RECEIVE);
    long receive = pair.receive().irecv(target, 0, bytes, -5);
    long[] send = {Result.TRY_AGAIN};
    hosts.await(
        "a send of " + bytes, () -> (send[0] = pair.send().isend(source, 0, bytes, -5)) > 0);
    assertEquals(bytes, hosts.await(pair.receive(), receive));
    assertEquals(bytes, hosts.await(pair.send(), send[0]));
    assertEquals(-1, from.asSlice(0, bytes).mismatch(to.asSlice(0, bytes)));
    source.close();
    target.close();
  }

  @Test
  void aDeviceConnectsToItself() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 2, 2)) {
      Pair pair = hosts.connect(hosts.device(0), hosts.device(0));
      transfer(hosts, pair, 5000);
      pair.send().close();
      pair.receive().close();
      // The ids are free again, and the way stays usable.
      transfer(hosts, hosts.connect(hosts.device(0), hosts.device(0)), 10);
    }
  }

  @Test
  void rangesAndRegistrationsAreChecked() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 3, 1)) {
      Pair pair = hosts.connect();
      SendComm send = pair.send();
      Registration memory = send.register(hosts.memory(100, 0), Use.SEND);
      Registration other = pair.receive().register(hosts.memory(100, 0), Use.SEND);
      assertThrows(IllegalArgumentException.class, () -> send.isend(memory, 1, 100, 0));
      assertThrows(IllegalArgumentException.class, () -> send.isend(memory, -1, 10, 0));
      assertThrows(IllegalArgumentException.class, () -> send.isend(memory, 0, -1, 0));
      assertThrows(IllegalArgumentException.class, () -> send.isend(memory, 0, Long.MAX_VALUE, 0));
      assertThrows(IllegalArgumentException.class, () -> send.isend(other, 0, 10, 0));
      assertTrue(memory.isOpen());
      memory.close();
      assertFalse(memory.isOpen());
      memory.close();
      assertThrows(IllegalArgumentException.class, () -> send.isend(memory, 0, 10, 0));
      assertThrows(IllegalStateException.class, memory::remote);
    }
  }

  @Test
  void registeredMemoryOfAnAutomaticArenaStaysUntilItIsDeregistered() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 4, 1)) {
      Pair pair = hosts.connect();
      RecvComm receive = pair.receive();
      Registration[] registration = new Registration[1];
      WeakReference<MemorySegment> segment = registerAutomatic(receive, registration);
      long request = receive.irecv(registration[0], 1);
      assertFalse(SimulatedHosts.isCollected(segment));

      Registration source = pair.send().register(hosts.memory(100, 9), Use.SEND, Use.RECEIVE);
      long[] send = {0};
      hosts.await("a send", () -> (send[0] = pair.send().isend(source, 0, 100, 1)) > 0);
      hosts.await(pair.send(), send[0]);
      hosts.await(receive, request);
      registration[0].close();
      registration[0] = source;
      assertTrue(SimulatedHosts.isCollected(segment));
    }
  }

  private static WeakReference<MemorySegment> registerAutomatic(Comm comm, Registration[] into) {
    MemorySegment memory = Arena.ofAuto().allocate(1 << 20);
    into[0] = comm.register(memory, Use.SEND, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES);
    return new WeakReference<>(memory);
  }

  @Test
  void memoryInUseIsNotDeregistered() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.CXI, 4, 2)) {
      Pair pair = hosts.connect();
      RecvComm receive = pair.receive();
      Registration used = receive.register(hosts.memory(100, 0), Use.RECEIVE);
      Registration unused = receive.register(hosts.memory(100, 0), Use.RECEIVE);
      long request = receive.irecv(new ReceiveGroup().add(used, 0, 50, 1).add(used, 50, 50, 2));
      IllegalStateException refused = assertThrows(IllegalStateException.class, () -> used.close());
      assertTrue(refused.getMessage().contains(Long.toHexString(request)), refused::getMessage);
      unused.close();
      Registration source = pair.send().register(hosts.memory(100, 9), Use.SEND, Use.RECEIVE);
      for (int tag : List.of(2, 1)) {
        long[] send = {0};
        hosts.await("a send", () -> (send[0] = pair.send().isend(source, 0, 50, tag)) > 0);
        assertEquals(50, hosts.await(pair.send(), send[0]));
      }
      assertEquals(100, hosts.await(receive, request));
      used.close();
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aCloseFailsWhatIsInFlightOnBothSidesAndNothingElse(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 5, 2)) {
      Pair closing = hosts.connect();
      Pair staying = hosts.connect();
      Registration memory = closing.receive().register(hosts.memory(100, 0), Use.SEND, Use.RECEIVE);
      long pending = closing.receive().irecv(memory, 1);
      closing.send().close();
      assertEquals(CommState.CLOSED, closing.send().state());
      assertEquals(FailureCause.PEER_CLOSED.code(), hosts.await(closing.receive(), pending));
      assertEquals(CommState.FAILED, closing.receive().state());
      // Posting still succeeds, and reports.
      long late = closing.receive().irecv(memory, 1);
      assertEquals(FailureCause.PEER_CLOSED.code(), hosts.await(closing.receive(), late));
      closing.receive().close();
      closing.receive().close();
      assertEquals(Result.STALE_REQUEST, closing.receive().test(late));
      assertThrows(IllegalStateException.class, () -> closing.receive().irecv(memory, 1));
      transfer(hosts, staying, 3000);
    }
  }

  @Test
  void theOwnCloseFailsRequestsWithItsCause() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 6, 1)) {
      Pair pair = hosts.connect();
      Registration memory = pair.receive().register(hosts.memory(100, 0), Use.SEND, Use.RECEIVE);
      long pending = pair.receive().irecv(memory, 1);
      pair.receive().close();
      assertEquals(FailureCause.CLOSED.code(), pair.receive().test(pending));
      assertEquals(
          FailureCause.CLOSED, pair.receive().failure(pending).map(Failure::cause).orElseThrow());
    }
  }

  @Test
  void anAbortTellsThePeer() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 7, 1)) {
      Pair pair = hosts.connect();
      Registration memory = pair.receive().register(hosts.memory(100, 0), Use.SEND, Use.RECEIVE);
      long pending = pair.receive().irecv(memory, 1);
      pair.send().abort();
      assertEquals(FailureCause.PEER_ABORTED.code(), hosts.await(pair.receive(), pending));
      assertNotEquals(CommState.OPEN, pair.receive().state());
    }
  }

  @Test
  void aTransportClosesWhatIsOpen() {
    SimulatedHosts hosts = new SimulatedHosts(Profile.CXI_CLIENT_KEY, 8, 2);
    Pair pair = hosts.connect();
    Registration memory = pair.receive().register(hosts.memory(100, 0), Use.SEND, Use.RECEIVE);
    long pending = pair.receive().irecv(memory, 1);
    hosts.device(0).listen();
    hosts.device(0).connect(hosts.device(1).listen().handle());
    hosts.close();
    // The first transport that closed told the second.
    assertEquals(FailureCause.PEER_CLOSED.code(), pair.receive().test(pending));
    assertEquals(CommState.CLOSED, pair.send().state());
  }

  @Test
  void aListenerThatClosedRefuses() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 9, 1)) {
      ListenComm listener = hosts.device(1).listen();
      listener.close();
      assertThrows(IllegalStateException.class, listener::accept);
      ConnectAttempt attempt = hosts.device(0).connect(listener.handle());
      TransportException refused =
          assertThrows(
              TransportException.class,
              () -> hosts.await("a refusal", () -> attempt.poll() != null));
      assertEquals(FailureCause.REFUSED, refused.failure().cause());
    }
  }

  @Test
  void aStandingAttemptGivesTheSameCommunicatorAgain() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 10, 1);
        ListenComm listener = hosts.device(1).listen()) {
      ConnectAttempt attempt = hosts.device(0).connect(listener.handle());
      hosts.await("a connection", () -> attempt.poll() != null);
      assertSame(attempt.poll(), attempt.poll());
      attempt.close();
      assertEquals(CommState.OPEN, attempt.poll().state());
    }
  }

  @Test
  void communicatorsAreSpreadOverEndpoints() {
    try (SimulatedHosts hosts =
        new SimulatedHosts(
            Profile.TCP,
            11,
            1,
            options -> options.tuning(Tuning.DEFAULT.withEndpointsPerDevice(3)))) {
      Device device = hosts.device(0);
      List<Pair> pairs = Stream.generate(hosts::connect).limit(4).toList();
      List<String> sending = pairs.stream().map(pair -> endpoint(pair.send())).toList();
      assertEquals(3, Set.copyOf(sending).size(), sending::toString);
      // An answer goes over the endpoint that the question went over.
      List<String> receiving =
          Stream.generate(() -> hosts.connect(hosts.device(1), device))
              .limit(4)
              .map(pair -> endpoint(pair.receive()))
              .toList();
      assertEquals(sending, receiving);
      pairs.forEach(pair -> transfer(hosts, pair, 100));
      assertEquals(device, pairs.getFirst().send().device());
    }
  }

  private static String endpoint(Comm comm) {
    return comm.label().replaceAll(".* of ", "").replaceAll(",.*", "");
  }

  @Test
  void hostMemoryNeedsNoFlushUnlessDemanded() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 12, 2)) {
      RecvComm receive = hosts.connect().receive();
      Registration memory = receive.register(hosts.memory(100, 0), Use.SEND, Use.RECEIVE);
      assertEquals(Result.NOTHING_TO_DO, receive.iflush(memory, 0, 100));
      assertEquals(0, receive.test(Result.NOTHING_TO_DO));
      assertTrue(
          receive.flushReason(memory).startsWith("not flushed"), receive.flushReason(memory));
    }
    try (SimulatedHosts hosts =
        new SimulatedHosts(
            Profile.TCP, 12, 2, options -> options.flushPolicy(FlushPolicy.ALWAYS))) {
      RecvComm receive = hosts.connect().receive();
      Registration memory = receive.register(hosts.memory(100, 0), Use.SEND, Use.RECEIVE);
      assertEquals(100, hosts.await(receive, receive.iflush(memory, 0, 100)));
      assertFalse(receive.flushReason(memory).startsWith("not"), receive.flushReason(memory));
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void bothSidesWriteAndReadThePeersMemory(Profile profile) {
    for (int rails : List.of(1, 2, 4)) {
      try (SimulatedHosts hosts = new SimulatedHosts(profile, 13, rails)) {
        Pair pair = hosts.connect();
        for (boolean sends : List.of(true, false)) {
          Comm here = sends ? pair.send() : pair.receive();
          Comm there = sends ? pair.receive() : pair.send();
          MemorySegment from = hosts.memory(10_000, 3);
          MemorySegment into = hosts.memory(10_000, 50);
          MemorySegment target = hosts.memory(20_000, 100);
          Registration source =
              here.register(from, Use.SEND, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES);
          Registration sink =
              here.register(into, Use.SEND, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES);
          Registration peers =
              there.register(target, Use.SEND, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES);
          RemoteMemory remote = peers.remote();
          long write = here.iwrite(source, 0, 10_000, remote, 10_000);
          assertThrows(IllegalStateException.class, () -> source.close());
          assertEquals(10_000, hosts.await(here, write));
          assertEquals(-1, from.mismatch(target.asSlice(10_000)));
          assertEquals(10_000, hosts.await(here, here.iread(sink, 0, 10_000, remote, 10_000)));
          assertEquals(-1, from.mismatch(into));
          MemorySegment few = hosts.memory(512, 7);
          int most = here.device().properties().limits().inlineWriteBytes();
          long inline = here.iwriteInline(few, 0, most, remote, 20_000 - most);
          byte[] written = few.asSlice(0, most).toArray(ValueLayout.JAVA_BYTE);
          few.fill((byte) 0);
          assertEquals(most, hosts.await(here, inline));
          assertEquals(
              -1,
              MemorySegment.ofArray(written).mismatch(target.asSlice(20_000 - most)),
              "written inline");
          assertEquals(0, hosts.await(here, here.iwrite(source, 0, 0, remote, 20_000)));
          source.close();
          sink.close();
          peers.close();
        }
      }
    }
  }

  @Test
  void oneSidedRangesAndRailsAreChecked() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 14, 2)) {
      Pair pair = hosts.connect();
      SendComm send = pair.send();
      Registration memory = send.register(hosts.memory(100, 0), Use.SEND, Use.RECEIVE);
      RemoteMemory remote =
          pair.receive()
              .register(
                  hosts.memory(100, 0), Use.SEND, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES)
              .remote();
      for (long[] wrong :
          new long[][] {
            {1, 100, 0},
            {-1, 10, 0},
            {0, -1, 0},
            {0, Long.MAX_VALUE, 0},
            {Long.MAX_VALUE, 10, 0},
            {0, 10, -1},
            {0, 10, 91},
            {0, 10, Long.MAX_VALUE}
          }) {
        assertThrows(
            IllegalArgumentException.class,
            () -> send.iwrite(memory, wrong[0], wrong[1], remote, wrong[2]));
        assertThrows(
            IllegalArgumentException.class,
            () -> send.iread(memory, wrong[0], wrong[1], remote, wrong[2]));
      }
      int most = send.device().properties().limits().inlineWriteBytes();
      MemorySegment bytes = hosts.memory(most + 1, 0);
      RemoteMemory large =
          pair.receive()
              .register(hosts.memory(most + 1, 0), Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES)
              .remote();
      assertThrows(
          IllegalArgumentException.class, () -> send.iwriteInline(bytes, 0, most + 1, large, 0));
      assertThrows(
          IllegalArgumentException.class, () -> send.iwriteInline(bytes, 0, 10, remote, 91));
      assertThrows(
          IllegalArgumentException.class, () -> send.iwriteInline(bytes, most, 10, remote, 0));
      assertEquals(0, hosts.await(send, send.iwriteInline(bytes, 0, 0, remote, 0)));
      RemoteMemory other =
          RemoteMemory.of(100, new long[] {remote.address(0)}, new long[] {remote.key(0)});
      IllegalArgumentException rails =
          assertThrows(IllegalArgumentException.class, () -> send.iwrite(memory, 0, 10, other, 0));
      assertTrue(rails.getMessage().contains("2 data rail"), rails::getMessage);
      assertThrows(IllegalArgumentException.class, () -> send.iread(memory, 0, 10, other, 0));
      assertThrows(IllegalArgumentException.class, () -> send.iwriteInline(bytes, 0, 10, other, 0));
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aCloseEndsOneSidedRequestsAndFlushes(Profile profile) {
    try (SimulatedHosts hosts =
        new SimulatedHosts(profile, 15, 2, options -> options.flushPolicy(FlushPolicy.ALWAYS))) {
      Pair pair = hosts.connect();
      RecvComm receive = pair.receive();
      Registration memory = receive.register(hosts.memory(8192, 0), Use.SEND, Use.RECEIVE);
      RemoteMemory remote =
          pair.send()
              .register(
                  hosts.memory(8192, 0), Use.SEND, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES)
              .remote();
      MemorySegment few = hosts.memory(64, 0);
      List<Long> requests =
          List.of(
              receive.iwrite(memory, 0, 4096, remote, 0),
              receive.iread(memory, 4096, 4096, remote, 4096),
              receive.iwriteInline(few, 0, 64, remote, 0),
              receive.iflush(memory, 0, 4096));
      receive.close();
      Set<Long> expected = Set.of(4096L, 64L, FailureCause.CLOSED.code());
      // A group's test takes any request.
      for (long request : requests) {
        assertTrue(expected.contains(receive.test(request, new long[1])), () -> "" + request);
        assertEquals(Result.STALE_REQUEST, receive.test(request));
      }
      assertThrows(IllegalStateException.class, () -> receive.iwriteInline(few, 0, 64, remote, 0));
      assertThrows(IllegalArgumentException.class, () -> receive.iflush(memory, 0, 64));
    }
  }

  /** Operations that are with a NIC when the transport closes are given up, with all they hold. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aTransportClosesOverOneSidedRequests(Profile profile) {
    SimulatedHosts hosts = new SimulatedHosts(profile, 16, 2);
    Pair pair = hosts.connect();
    RemoteMemory remote =
        pair.send()
            .register(hosts.memory(8192, 0), Use.SEND, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES)
            .remote();
    MemorySegment few = hosts.memory(64, 0);
    long request = pair.receive().iwriteInline(few, 0, 64, remote, 0);
    hosts.close();
    assertNotEquals(Result.IN_PROGRESS, pair.receive().test(request));
  }
}
