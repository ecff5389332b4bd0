package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jofi.counters.written.CounterType;
import org.jofi.counters.written.EndpointCounters;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RailChange;
import org.jofi.transport.RailListener;
import org.jofi.transport.RailStatus;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Devices with unequally many rails use as many as both have. */
class UnequalRailSetsTest {
  private static final int TAG = 6;
  private static final int CONNECTIONS = 3;

  private final List<String> told = new CopyOnWriteArrayList<>();

  private boolean listenerFails;

  private final RailListener listener =
      new RailListener() {
        @Override
        public void changed(RailChange change) {
          // Faults of rails are other tests' affair.
        }

        @Override
        public void leftOut(String line) {
          told.add(line);
          if (listenerFails) {
            throw new IllegalStateException("whoever listens may fail");
          }
        }
      };

  private SimulatedHosts hosts(Profile profile, long seed, int first, int second) {
    return SimulatedHosts.unequal(profile, seed, first, second, listener);
  }

  static Stream<Arguments> sets() {
    return Profile.ALL.stream()
        .flatMap(
            profile ->
                Stream.of(
                    Arguments.of(profile, 3, 2),
                    Arguments.of(profile, 1, 4),
                    Arguments.of(profile, 4, 1),
                    Arguments.of(profile, 2, 3)));
  }

  /** Several connections that are made at the same time, in that direction. */
  private static List<Pair> connect(SimulatedHosts hosts, Device from, Device to) {
    try (ListenComm listener = to.listen()) {
      List<ConnectAttempt> attempts =
          Stream.generate(() -> from.connect(listener.handle())).limit(CONNECTIONS).toList();
      List<RecvComm> accepted = new ArrayList<>();
      hosts.await(
          "connecting",
          () -> {
            RecvComm made = listener.accept();
            if (made != null) {
              accepted.add(made);
            }
            return attempts.stream().filter(attempt -> attempt.poll() != null).count()
                    == CONNECTIONS
                && accepted.size() == CONNECTIONS;
          });
      assertEquals(0, listener.refused());
      attempts.forEach(attempt -> assertEquals(listener.handle(), attempt.handle()));
      return paired(hosts, attempts.stream().map(ConnectAttempt::poll).toList(), accepted);
    }
  }

  /** Connections may be accepted in any order: what a message says tells whose end it came to. */
  private static List<Pair> paired(
      SimulatedHosts hosts, List<SendComm> senders, List<RecvComm> receivers) {
    List<MemorySegment> names =
        receivers.stream().map(_ -> hosts.arena.allocate(ValueLayout.JAVA_LONG)).toList();
    List<Long> receives =
        IntStream.range(0, CONNECTIONS)
            .mapToObj(i -> receivers.get(i).irecv(names.get(i), TAG))
            .toList();
    for (int i = 0; i < CONNECTIONS; i++) {
      MemorySegment name = hosts.arena.allocateFrom(ValueLayout.JAVA_LONG, i);
      assertEquals(8, hosts.await(senders.get(i), senders.get(i).isend(name, TAG)));
    }
    List<Pair> pairs = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      assertEquals(8, hosts.await(receivers.get(i), receives.get(i)));
      int name = (int) names.get(i).get(ValueLayout.JAVA_LONG, 0);
      pairs.add(new Pair(senders.get(name), receivers.get(i)));
    }
    assertEquals(CONNECTIONS, pairs.stream().map(Pair::send).distinct().count());
    return pairs;
  }

  private static void transfer(SimulatedHosts hosts, Pair pair, int bytes) {
    MemorySegment from = hosts.memory(bytes + 1, 3);
    MemorySegment to = hosts.memory(bytes + 1, 100);
    long receive = pair.receive().irecv(to, 0, bytes, TAG);
    assertEquals(bytes, hosts.await(pair.send(), pair.send().isend(from, 0, bytes, TAG)));
    assertEquals(bytes, hosts.await(pair.receive(), receive));
    assertEquals(-1, from.asSlice(0, bytes).mismatch(to.asSlice(0, bytes)));
  }

  private static void oneSided(SimulatedHosts hosts, Pair pair) {
    MemorySegment from = hosts.memory(50_000, 5);
    MemorySegment to = hosts.memory(50_000, 6);
    try (Registration source = pair.send().register(from, Use.SEND);
        Registration target = pair.receive().register(to, Use.RECEIVE, Use.PEER_WRITES)) {
      RemoteMemory remote = RemoteMemory.decode(target.remote().encode());
      hosts.await(pair.send(), pair.send().iwrite(source, 0, 50_000, remote, 0));
      assertEquals(-1, from.mismatch(to));
      hosts.await(pair.receive(), pair.receive().iflush(target, 0, 50_000));
    }
  }

  @ParameterizedTest
  @MethodSource("sets")
  void asManyAreUsedAsBothHave(Profile profile, int first, int second) {
    // Simulated addresses over TCP are all in the first NIC's subnet: one goes with one.
    int common = profile.equals(Profile.TCP) ? 1 : Math.min(first, second);
    try (SimulatedHosts hosts = hosts(profile, 1, first, second)) {
      List<Pair> pairs = new ArrayList<>(connect(hosts, hosts.device(0), hosts.device(1)));
      pairs.addAll(connect(hosts, hosts.device(1), hosts.device(0)));
      for (Pair pair : pairs) {
        for (int bytes : List.of(0, 1, 512, 4096, 100_000)) {
          transfer(hosts, pair, bytes);
        }
        oneSided(hosts, pair);
        assertEquals(common, pair.send().rails().size());
        assertEquals(common, pair.receive().rails().size());
      }
      assertEquals(CONNECTIONS * 2, pairs.size());
      List<Comm> ends = pairs.stream().map(pair -> (Comm) pair.send()).toList();
      List<Comm> others = pairs.stream().map(pair -> (Comm) pair.receive()).toList();
      check(ends.subList(0, CONNECTIONS), others.subList(CONNECTIONS, 2 * CONNECTIONS), second);
      check(others.subList(0, CONNECTIONS), ends.subList(CONNECTIONS, 2 * CONNECTIONS), first);
      assertEquals((first > common ? 1 : 0) + (second > common ? 1 : 0), told.size());
      pairs.forEach(pair -> pair.send().close());
      pairs.forEach(pair -> pair.receive().close());
      // They stay, and are used again.
      assertSame(
          endpoint(pairs.getFirst().send()),
          endpoint(connect(hosts, hosts.device(0), hosts.device(1)).getFirst().send()));
    }
  }

  private static DeviceEndpoint endpoint(Comm comm) {
    return ((RdmaComm) comm).endpoint;
  }

  /** All of a device share one endpoint, which is over what is in common; that is said once. */
  private void check(List<Comm> ofOne, List<Comm> ofTheSame, int peerRails) {
    Comm any = ofOne.getFirst();
    Stream.concat(ofOne.stream(), ofTheSame.stream())
        .forEach(comm -> assertSame(endpoint(any), endpoint(comm)));
    EndpointCounters counters = endpoint(any).driver.context.counters();
    assertEquals(2 * CONNECTIONS, counters.all().get(CounterType.CONNECTIONS_MADE));
    assertEquals(0, counters.all().get(CounterType.CONNECTIONS_FAILED));
    DeviceProperties device = any.device().properties();
    List<String> nics = device.rails().stream().map(DeviceProperties.Rail::nic).toList();
    List<String> used = any.rails().stream().map(RailStatus::nic).toList();
    assertEquals(nics.subList(0, used.size()), used);
    List<String> said =
        told.stream().filter(line -> line.startsWith(device.name() + ": ")).toList();
    if (used.equals(nics)) {
      assertEquals(device.name(), endpoint(any).driver.label());
      return;
    }
    String over = String.join("+", used);
    assertEquals(device.name() + " over " + over, endpoint(any).driver.label());
    List<String> lines =
        said.stream()
            .filter(
                line ->
                    line.contains(
                        "%d of its %d rails are in common with the peer at "
                            .formatted(used.size(), nics.size())))
            .filter(line -> line.contains(", which has %d: %s; ".formatted(peerRails, over)))
            .filter(
                line ->
                    line.endsWith(
                        "left out: " + String.join("+", nics.subList(used.size(), nics.size()))))
            .toList();
    assertEquals(1, lines.size(), told::toString);
  }

  /** Both sides do one after the other, as programs may that know that the other one does both. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void acceptingAndConnectingMayWaitForEachOther(boolean acceptsFirst) {
    listenerFails = true;
    try (SimulatedHosts hosts = hosts(Profile.TCP, 2, 3, 1)) {
      List<ListenComm> listeners = List.of(hosts.device(0).listen(), hosts.device(1).listen());
      List<ConnectAttempt> attempts =
          List.of(
              hosts.device(0).connect(listeners.get(1).handle()),
              hosts.device(1).connect(listeners.get(0).handle()));
      RecvComm[] accepted = new RecvComm[2];
      for (boolean accepts : new boolean[] {acceptsFirst, !acceptsFirst}) {
        if (accepts) {
          hosts.await(
              "accepting",
              () -> {
                for (int host = 0; host < 2; host++) {
                  accepted[host] =
                      accepted[host] == null ? listeners.get(host).accept() : accepted[host];
                }
                return accepted[0] != null && accepted[1] != null;
              });
        } else {
          hosts.await("connecting", () -> attempts.stream().allMatch(each -> each.poll() != null));
        }
      }
      listeners.forEach(ListenComm::close);
      hosts.tend();
      assertTrue(((RdmaDevice) hosts.device(0)).attempts.isEmpty());
    }
  }

  /** Nothing of it stays, whichever side gives up, and however far it is. */
  @Test
  void whatIsGivenUpHalfWayLeavesNothing() {
    try (SimulatedHosts hosts = hosts(Profile.EFA, 3, 3, 2)) {
      for (int rounds = 0; rounds < 40; rounds++) {
        ListenComm listener = hosts.device(rounds % 2).listen();
        ConnectAttempt attempt = hosts.device(1 - rounds % 2).connect(listener.handle());
        for (int round = 0; round < rounds / 2; round++) {
          if (attempt.poll() == null) {
            hosts.tend();
            hosts.simulation.idle();
          }
        }
        if (rounds % 3 == 0) {
          listener.close();
        }
        SendComm made = attempt.poll();
        attempt.close();
        if (made != null) {
          made.close();
        }
        listener.close();
        assertThrows(IllegalStateException.class, listener::accept);
      }
      Pair pair = hosts.connect();
      transfer(hosts, pair, 1000);
    }
  }

  @Test
  void aDeviceOpensNoMoreThanSoManyEndpoints() {
    try (SimulatedHosts hosts = hosts(Profile.TCP, 4, 4, 3)) {
      RdmaDevice device = (RdmaDevice) hosts.device(0);
      device.listen().close();
      List<List<Integer>> sets =
          IntStream.range(1, 64)
              .mapToObj(bits -> List.of(bits & 3, bits >> 2 & 3, bits >> 4))
              .filter(rails -> rails.stream().distinct().count() == 3)
              .toList();
      // Not the set of the connections below.
      sets.stream().skip(1).forEach(rails -> device.over(rails, "a peer"));
      IntStream.range(0, 9).forEach(pair -> pairOver(device, pair));
      TransportException many =
          assertThrows(TransportException.class, () -> device.over(List.of(0), "a peer"));
      assertEquals(FailureCause.EXHAUSTED, many.failure().cause());
      assertSame(device.over(sets.getLast(), ""), device.over(sets.getLast(), ""));
      // As a listener it says so.
      try (ListenComm listener = device.listen()) {
        ConnectAttempt attempt = hosts.device(1).connect(listener.handle());
        refused(
            hosts,
            attempt,
            "the listener has 4 data and 4 control rails, this side 3 and 3; it could not open");
        assertEquals(1, listener.refused());
      }
      // As a connector it fails.
      try (ListenComm listener = hosts.device(1).listen()) {
        refused(hosts, device.connect(listener.handle()), "opens none again");
        assertEquals(0, listener.refused());
      }
    }
  }

  private static void pairOver(RdmaDevice device, int number) {
    int first = number / 3;
    int second = number % 3;
    device.over(List.of(first, second < first ? second : second + 1), "a peer");
  }

  private static void refused(SimulatedHosts hosts, ConnectAttempt attempt, String why) {
    TransportException[] thrown = new TransportException[1];
    hosts.await(
        "refusal",
        () -> {
          try {
            attempt.poll();
          } catch (TransportException refusal) {
            thrown[0] = refusal;
          }
          return thrown[0] != null;
        });
    assertEquals(FailureCause.EXHAUSTED, thrown[0].failure().cause());
    assertTrue(String.valueOf(thrown[0].getMessage()).contains(why), thrown[0]::getMessage);
    assertThrows(TransportException.class, attempt::poll);
    attempt.close();
  }
}
