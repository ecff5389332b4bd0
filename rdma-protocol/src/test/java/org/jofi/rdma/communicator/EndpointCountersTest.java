package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.counters.written.CounterBlock;
import org.jofi.counters.written.CounterType;
import org.jofi.counters.written.EndpointCounters;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is counted is what happened, at both ends. */
class EndpointCountersTest {
  private static final int TAG = 4;
  private static final int LONG_BYTES = 100_000;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  private static EndpointCounters of(Comm comm) {
    return ((RdmaComm) comm).endpoint.driver.context.counters();
  }

  static long all(Comm comm, CounterType type) {
    return of(comm).all().get(type);
  }

  static long rails(Comm comm, CounterType type) {
    long sum = 0;
    for (CounterBlock rail : of(comm).rails()) {
      sum += rail.get(type);
    }
    return sum;
  }

  private static void transfer(SimulatedHosts hosts, Pair pair, int bytes) {
    MemorySegment from = hosts.memory(bytes, 1);
    MemorySegment to = hosts.memory(bytes, 2);
    long receive = pair.receive().irecv(to, TAG);
    long send = pair.send().isend(from, TAG);
    assertEquals(bytes, hosts.await(pair.send(), send));
    assertEquals(bytes, hosts.await(pair.receive(), receive));
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void messagesAreCountedAtBothEnds(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 1, 2)) {
      Pair pair = hosts.connect();
      for (int i = 0; i < 5; i++) {
        transfer(hosts, pair, 8);
        transfer(hosts, pair, LONG_BYTES);
      }
      assertEquals(10, all(pair.send(), CounterType.MESSAGES_SENT));
      assertEquals(10, all(pair.receive(), CounterType.MESSAGES_RECEIVED));
      assertEquals(5 * (8 + LONG_BYTES), all(pair.send(), CounterType.BYTES_SENT));
      assertEquals(5 * (8 + LONG_BYTES), all(pair.receive(), CounterType.BYTES_RECEIVED));
      long written = rails(pair.send(), CounterType.BYTES_WRITTEN);
      assertTrue(written >= 5 * LONG_BYTES && written <= 5 * (8 + LONG_BYTES), "" + written);
      assertTrue(rails(pair.send(), CounterType.STRIPES_WRITTEN) >= 5);
      assertEquals(0, rails(pair.send(), CounterType.STRIPES_REPEATED));
      assertTrue(rails(pair.send(), CounterType.CONTROL_OPERATIONS) > 0);
      assertEquals(1, all(pair.send(), CounterType.CONNECTIONS_MADE));
      assertEquals(1, all(pair.receive(), CounterType.CONNECTIONS_MADE));
      pair.send().close();
      pair.receive().close();
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void gaugesTellWhatIsNow(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 2, 2)) {
      Pair pair = hosts.connect();
      long send = pair.send().isend(hosts.memory(LONG_BYTES, 1), TAG);
      awaitGauge(hosts, pair.send(), CounterType.SENDS_WAITING, 1);
      assertEquals(1, all(pair.send(), CounterType.REQUESTS_IN_FLIGHT));
      assertEquals(1, all(pair.send(), CounterType.CONNECTIONS_OPEN));
      assertEquals(1, all(pair.send(), CounterType.PEERS));
      assertEquals(0, rails(pair.send(), CounterType.RAIL_STATE));
      assertEquals(0, rails(pair.send(), CounterType.RAIL_PEERS_WITHOUT));
      long receive = pair.receive().irecv(hosts.memory(LONG_BYTES, 2), TAG);
      assertEquals(LONG_BYTES, hosts.await(pair.send(), send));
      assertEquals(LONG_BYTES, hosts.await(pair.receive(), receive));
      awaitGauge(hosts, pair.send(), CounterType.REQUESTS_IN_FLIGHT, 0);
      assertEquals(0, all(pair.send(), CounterType.SENDS_WAITING));
      pair.receive().close();
      awaitGauge(hosts, pair.send(), CounterType.CONNECTIONS_BROKEN, 1);
      assertEquals(0, all(pair.send(), CounterType.CONNECTIONS_OPEN));
      pair.send().close();
    }
  }

  private static void awaitGauge(SimulatedHosts hosts, Comm comm, CounterType type, long value) {
    hosts.await(type + " of " + value, () -> all(comm, type) == value);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void whatIsNoMessageIsCountedToo(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 3, 2)) {
      Pair pair = hosts.connect();
      MemorySegment near = hosts.memory(LONG_BYTES, 1);
      try (Registration far =
          pair.receive().register(hosts.memory(LONG_BYTES, 2), Use.PEER_READS, Use.PEER_WRITES)) {
        RemoteMemory remote = far.remote();
        long read = pair.send().iread(near, 0, LONG_BYTES, remote, 0);
        assertEquals(LONG_BYTES, hosts.await(pair.send(), read));
        assertEquals(LONG_BYTES, rails(pair.send(), CounterType.BYTES_READ));
        long inline = pair.send().iwriteInline(near, 0, 16, remote, 0);
        assertEquals(16, hosts.await(pair.send(), inline));
        assertEquals(1, all(pair.send(), CounterType.INLINE_WRITES));
        assertEquals(0, all(pair.send(), CounterType.QUEUE_FULL));
        long full = 0;
        while (full != Result.TRY_AGAIN) {
          full = pair.send().isend(near, 0, LONG_BYTES, TAG);
        }
        assertEquals(1, all(pair.send(), CounterType.QUEUE_FULL));
      }
      pair.send().abort();
      assertTrue(all(pair.send(), CounterType.FAILED_ABORTED) > 0);
      pair.receive().close();
      ConnectHandle handle = hosts.device(0).listen().handle();
      byte[] nonce = handle.nonce();
      nonce[0] ^= 1;
      ConnectHandle wrong =
          ConnectHandle.of(
              handle.listener(),
              nonce,
              List.of(handle.address(0)),
              handle.protocol(),
              handle.release());
      try (ConnectAttempt attempt = hosts.device(1).connect(wrong)) {
        hosts.await("a refusal", () -> refused(attempt));
      }
      assertEquals(
          1,
          all(pair.receive(), CounterType.CONNECTIONS_REFUSED)
              + all(pair.send(), CounterType.CONNECTIONS_REFUSED));
      assertEquals(
          1,
          all(pair.receive(), CounterType.CONNECTIONS_FAILED)
              + all(pair.send(), CounterType.CONNECTIONS_FAILED));
    }
  }

  private static boolean refused(ConnectAttempt attempt) {
    try {
      return attempt.poll() != null;
    } catch (TransportException refusal) {
      return true;
    }
  }

  @Test
  void aPeerThatFallsSilentIsLost() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 4, 1)) {
      Pair pair = hosts.connect();
      transfer(hosts, pair, LONG_BYTES);
      hosts.simulation.host(0).nic(0).stall(Duration.ofSeconds(60));
      long send = pair.send().isend(hosts.memory(LONG_BYTES, 1), TAG);
      hosts.await("its loss", () -> pair.send().failure().isPresent());
      assertEquals(FailureCause.PEER_LOST.code(), hosts.await(pair.send(), send));
      assertEquals(1, all(pair.send(), CounterType.CONNECTIONS_LOST));
      assertEquals(1, all(pair.send(), CounterType.FAILED_PEER_LOST));
    }
  }
}
