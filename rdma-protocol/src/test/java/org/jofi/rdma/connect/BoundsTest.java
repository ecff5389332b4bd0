package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.rdma.engine.Posting;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Link;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Nobody waits without a bound: not for a peer that is gone, nor for an operation that is stuck.
 */
class BoundsTest {
  private static final long NEVER = Duration.ofDays(1).toNanos();
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  private static Simulation simulation(Profile profile, int rails) {
    return Simulation.of(profile).nicsPerHost(rails).open();
  }

  /** Two hosts of two rails whose requests have these bounds, and that never fall silent. */
  private static Linked bounded(
      Simulation simulation, Arena arena, Profile profile, long leftNs, long rightNs) {
    return new Linked(
        simulation,
        arena,
        new Node(simulation, profile, 0, 2, leftNs, NEVER),
        new Node(simulation, profile, 1, 2, rightNs, NEVER));
  }

  private static Failure failureOf(Connection connection, long request) {
    Failure failure = connection.failure(request);
    assertNotNull(failure);
    return failure;
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void whatIsPendingFailsWhenThePeerFallsSilent(Profile profile) {
    try (Simulation simulation = simulation(profile, 2);
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, profile, 2);
      long first = linked.receive(64);
      long second = linked.receive(64);
      linked.pass(SECOND / 10, linked.left, linked.right);
      simulation.host(0).kill();
      long[] outcome = linked.outcome(linked.receiving, first, linked.right);
      assertEquals(FailureCause.PEER_LOST.code(), outcome[0]);
      assertTrue(outcome[1] < 2 * Node.SILENCE_NS, () -> "took " + outcome[1] + " ns");
      assertEquals(FailureCause.PEER_LOST.code(), linked.receiving.test(second));
      assertEquals(FailureCause.PEER_LOST, failureOf(linked.receiving, first).cause());
      // Posting succeeds, and its test tells.
      assertEquals(FailureCause.PEER_LOST.code(), linked.receiving.test(linked.receive(64)));
      linked.right.connections.close(linked.receiving);
      linked.await("releasing", linked.receiving::isReleased, linked.right);
      linked.to.release();
      linked.right.close();
      assertOpenOnlyOn(simulation, 0);
    }
  }

  private static void assertOpenOnlyOn(Simulation simulation, int deadHost) {
    assertEquals(
        List.of(),
        simulation.openObjects().stream()
            .filter(object -> !object.contains("endpoint " + deadHost))
            .filter(object -> !object.contains("host " + deadHost))
            .toList());
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aSenderThatWaitsForAReceiveLearnsOfThePeersDeath(Profile profile) {
    try (Simulation simulation = simulation(profile, 1);
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, profile, 1);
      simulation.host(1).kill();
      long start = simulation.nanoTime();
      long request = linked.send(64);
      assertTrue(simulation.nanoTime() - start < 2 * Node.SILENCE_NS);
      assertEquals(FailureCause.PEER_LOST.code(), linked.sending.test(request));
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void whoClosesManyCommunicatorsToTheDeadWaitsOnce(Profile profile) {
    try (Simulation simulation = simulation(profile, 1)) {
      Node left = new Node(simulation, profile, 0, 1);
      Node right = new Node(simulation, profile, 1, 1);
      Listener listener = right.connections.connector().listen(null);
      ConnectHandle handle = right.connections.connector().handle(listener);
      List<Attempt> attempts = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        Attempt attempt = left.connections.connector().connect(handle);
        Linked.await(simulation, "connecting", () -> attempt.connection() != null, left, right);
        attempts.add(attempt);
      }
      // One by one, as who frees communicators of NCCL does; the living are waited for.
      for (Attempt attempt : attempts.subList(0, 10)) {
        closeAndAwait(simulation, attempt, left, right);
      }
      simulation.host(1).kill();
      long start = simulation.nanoTime();
      for (Attempt attempt : attempts.subList(10, 20)) {
        closeAndAwait(simulation, attempt, left);
      }
      long took = simulation.nanoTime() - start;
      assertTrue(took < 2 * Node.BOUND_NS, () -> "took " + took + " ns");
    }
  }

  /** Whether it closes or aborts, and whether something is in flight to the dead. */
  @ParameterizedTest
  @MethodSource("profiles")
  void whoEndsManyCommunicatorsToTheDeadWaitsOnce(Profile profile) {
    for (boolean aborts : new boolean[] {false, true}) {
      for (boolean busy : new boolean[] {false, true}) {
        for (boolean atOnce : new boolean[] {false, true}) {
          String line =
              "%s, aborts %s, busy %s, at once %s".formatted(profile.name(), aborts, busy, atOnce);
          try (Simulation simulation = simulation(profile, 1);
              Arena arena = Arena.ofShared()) {
            endMany(simulation, arena, profile, line, aborts, busy, atOnce);
          }
        }
      }
    }
  }

  private static void endMany(
      Simulation simulation,
      Arena arena,
      Profile profile,
      String line,
      boolean aborts,
      boolean busy,
      boolean atOnce) {
    Linked linked = Linked.of(simulation, arena, profile, 1);
    Node left = linked.left;
    Node right = linked.right;
    Listener listener = right.connections.connector().listen(null);
    ConnectHandle handle = right.connections.connector().handle(listener);
    List<Connection> connections = new ArrayList<>(List.of(linked.sending));
    while (connections.size() < 8) {
      Attempt attempt = left.connections.connector().connect(handle);
      Linked.await(simulation, "connecting", () -> attempt.connection() != null, left, right);
      SendConnection made = attempt.connection();
      assertNotNull(made);
      connections.add(made);
    }
    RemoteMemory remote = Pair.remote(linked.to);
    simulation.host(1).kill();
    long start = simulation.nanoTime();
    for (Connection connection : connections) {
      if (busy) {
        assertTrue(
            Posting.write(connection, linked.source.address(), 4096, linked.from, remote, 0) > 0,
            line);
      }
    }
    for (Connection connection : connections) {
      if (aborts) {
        left.connections.abort(connection);
      } else {
        left.connections.close(connection);
      }
      if (!atOnce) {
        Linked.await(simulation, line, connection::isReleased, left);
      }
    }
    Linked.await(
        simulation, line, () -> connections.stream().allMatch(Connection::isReleased), left);
    long took = simulation.nanoTime() - start;
    assertTrue(took < 3 * Node.BOUND_NS / 2, () -> line + ": took " + took + " ns");
  }

  private static void closeAndAwait(Simulation simulation, Attempt attempt, Node... nodes) {
    Connection connection = attempt.connection();
    assertNotNull(connection);
    nodes[0].connections.close(connection);
    Linked.await(simulation, "releasing", connection::isReleased, nodes);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void nobodyIsLostWhoAnswersOrIsNotWaitedFor(Profile profile) {
    try (Simulation simulation = simulation(profile, 2);
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, profile, 2);
      // Nobody waits: nobody is asked, and a peer that does not poll is left in peace.
      linked.pass(20 * Node.SILENCE_NS, linked.right);
      assertNull(linked.receiving.failure());
      long receive = linked.receive(64);
      linked.pass(20 * Node.SILENCE_NS, linked.left, linked.right);
      assertEquals(Result.IN_PROGRESS, linked.receiving.test(receive));
      long send = linked.send(64);
      assertEquals(64, linked.outcome(linked.receiving, receive, linked.left, linked.right)[0]);
      assertEquals(64, linked.outcome(linked.sending, send, linked.left, linked.right)[0]);
      // A pause of this side is not the peer's silence.
      linked.receive(64);
      linked.pass(Node.SILENCE_NS / 100, linked.left, linked.right);
      long end = simulation.nanoTime() + 50 * Node.SILENCE_NS;
      while (simulation.nanoTime() < end) {
        linked.left.connections.progress();
        simulation.idle();
      }
      linked.right.connections.checkBounds();
      linked.pass(Node.SILENCE_NS, linked.left, linked.right);
      assertNull(linked.receiving.failure());
      linked.finish(linked.from, linked.to);
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aStuckSendIsReportedAtItsBoundAndKeepsItsLease(Profile profile) {
    try (Simulation simulation = simulation(profile, 2);
        Arena arena = Arena.ofShared()) {
      Linked linked = bounded(simulation, arena, profile, SECOND, NEVER);
      long receive = linked.receive(4096);
      linked.pass(SECOND / 10, linked.left, linked.right);
      simulation.host(0).nic(1).stall(Duration.ofSeconds(30));
      long send = linked.send(4096);
      long[] sent = linked.outcome(linked.sending, send, linked.left, linked.right);
      assertEquals(FailureCause.TIMED_OUT.code(), sent[0]);
      assertTrue(sent[1] >= SECOND && sent[1] < 2 * SECOND, () -> "took " + sent[1] + " ns");
      Failure why = failureOf(linked.sending, send);
      assertTrue(
          why.detail().contains("stripe") && why.detail().contains("data rail 1"), why::toString);
      assertEquals(Result.STALE_REQUEST, linked.sending.test(send));
      // The peer is told, by the protocol itself.
      long[] received = linked.outcome(linked.receiving, receive, linked.left, linked.right);
      assertEquals(FailureCause.PEER_ABORTED.code(), received[0]);
      // The NIC still has the write: its memory stays registered until the rail is closed.
      linked.from.release();
      assertTrue(linked.from.isOpen(), "lease ended early");
      linked.await("coming back", () -> !linked.from.isOpen(), linked.left, linked.right);
      assertTrue(simulation.nanoTime() < 10 * SECOND, "it waited for the NIC");
      linked.pass(30 * SECOND, linked.left, linked.right);
      linked.finish(linked.to);
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aReceiveOfWhichAPartCameNamesWhatIsMissing(Profile profile) {
    try (Simulation simulation = simulation(profile, 2);
        Arena arena = Arena.ofShared()) {
      Linked linked = bounded(simulation, arena, profile, NEVER, SECOND);
      long receive = linked.receive(4096);
      linked.pass(SECOND / 10, linked.left, linked.right);
      // Nothing came yet: there is no bound.
      linked.pass(5 * SECOND, linked.left, linked.right);
      assertEquals(Result.IN_PROGRESS, linked.receiving.test(receive));
      // The other NIC's turn is next, where immediate data is sent as a control message.
      simulation.host(0).nic(0).stall(Duration.ofSeconds(30));
      long send = linked.send(4096);
      long[] received = linked.outcome(linked.receiving, receive, linked.left, linked.right);
      assertEquals(FailureCause.TIMED_OUT.code(), received[0]);
      Failure why = failureOf(linked.receiving, receive);
      assertTrue(why.detail().contains("stripes"), why::toString);
      long[] sent = linked.outcome(linked.sending, send, linked.left, linked.right);
      assertEquals(FailureCause.PEER_ABORTED.code(), sent[0]);
      // Whoever was late has nothing to write into any more, and what was told is done.
      linked.pass(30 * SECOND, linked.left, linked.right);
      linked.finish(linked.from, linked.to);
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void anEndpointThatIsAbortedLeavesNothingOfItsConnections(Profile profile) {
    try (Simulation simulation = simulation(profile, 1);
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, profile, 1);
      long receive = linked.receive(64);
      linked.pass(SECOND / 10, linked.left, linked.right);
      linked
          .left
          .connections
          .connector()
          .connect(
              linked
                  .right
                  .connections
                  .connector()
                  .handle(linked.right.connections.connector().listen(null)));
      linked.left.abort();
      linked.right.abort();
      assertEquals(FailureCause.CLOSED.code(), linked.receiving.test(receive));
      assertEquals(0, linked.left.connections.live() + linked.right.connections.live());
      linked.from.release();
      linked.to.release();
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void stuckOneSidedRequestsAndFlushesAreReportedAtTheirBoundAndKeepTheirLease(Profile profile) {
    try (Simulation simulation = simulation(profile, 2);
        Arena arena = Arena.ofShared()) {
      Linked linked = bounded(simulation, arena, profile, NEVER, SECOND);
      ReceiveConnection connection = linked.receiving;
      long address = linked.target.address();
      RemoteMemory remote = Pair.remote(linked.from);
      simulation.host(1).nic(1).stall(Duration.ofSeconds(30));
      long[] requests = {
        Posting.write(connection, address, 4096, linked.to, remote, 0),
        Posting.read(connection, address + 4096, 4096, linked.to, remote, 0),
        connection.flushes.flush(address, 4096, linked.to)
      };
      for (long request : requests) {
        assertEquals(Result.IN_PROGRESS, connection.test(request));
      }
      linked.pass(2 * SECOND, linked.left, linked.right);
      for (long request : requests) {
        assertEquals(FailureCause.TIMED_OUT.code(), connection.test(request));
        Failure why = failureOf(connection, request);
        assertTrue(
            why.detail().contains("stripe") && why.detail().contains("data rail 1"), why::toString);
        assertTrue(connection.usesMemory(request));
      }
      assertNull(connection.failure(), "each failed alone");
      linked.to.release();
      assertTrue(linked.to.isOpen(), "lease ended early");
      linked.await("coming back", () -> !linked.to.isOpen(), linked.left, linked.right);
      assertTrue(simulation.nanoTime() < 10 * SECOND, "it waited for the NIC");
      linked.pass(30 * SECOND, linked.left, linked.right);
      linked.finish(linked.from);
    }
  }

  private static Simulation slow(Profile profile) {
    // 4096 bytes take 50 ms over one of the two rails.
    Link slow = new Link(1_000, 81_920);
    Link fast = new Link(1_000, 10_000_000_000L);
    return Simulation.of(profile)
        .nicsPerHost(2)
        .links((fromHost, fromNic, _, _) -> fromHost == 0 && fromNic == 1 ? slow : fast)
        .open();
  }

  /** As many messages and writes, all at once. */
  private static List<List<Long>> many(Linked linked, int count) {
    List<Long> receives = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      receives.add(linked.receive(Linked.BYTES));
    }
    linked.pass(SECOND / 10, linked.left, linked.right);
    List<Long> ours = new ArrayList<>();
    RemoteMemory remote = Pair.remote(linked.to);
    for (int i = 0; i < count; i++) {
      // Short, so that lengths are told before stripes come.
      ours.add(linked.send(Linked.BYTES - 1));
      ours.add(
          Posting.write(
              linked.sending, linked.source.address(), Linked.BYTES, linked.from, remote, 0));
    }
    return List.of(receives, ours);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void whatIsQueuedBehindOthersHasABoundOnSilenceAlone(Profile profile) {
    try (Simulation simulation = slow(profile);
        Arena arena = Arena.ofShared()) {
      Linked linked = bounded(simulation, arena, profile, SECOND, SECOND);
      long start = simulation.nanoTime();
      List<List<Long>> requests = many(linked, 40);
      for (long request : requests.get(0)) {
        assertEquals(
            Linked.BYTES - 1,
            linked.outcome(linked.receiving, request, linked.left, linked.right)[0]);
      }
      for (long request : requests.get(1)) {
        long moved = linked.outcome(linked.sending, request, linked.left, linked.right)[0];
        assertTrue(moved >= Linked.BYTES - 1, () -> "came to " + moved);
      }
      assertTrue(simulation.nanoTime() - start > 3 * SECOND, "it took no time");
      linked.finish(linked.from, linked.to);
    }
  }

  /** With tcp a send is done when it left, which it does although the peer takes nothing. */
  static Stream<Profile> profilesThatTellOfDelivery() {
    return profiles().filter(profile -> !profile.behaviour().completesOnTransmit());
  }

  @ParameterizedTest
  @MethodSource("profilesThatTellOfDelivery")
  void whatIsQueuedBehindOthersFailsAtItsBoundWhenNothingMovesAnyMore(Profile profile) {
    try (Simulation simulation = slow(profile);
        Arena arena = Arena.ofShared()) {
      Linked linked = bounded(simulation, arena, profile, SECOND, NEVER);
      List<List<Long>> requests = many(linked, 40);
      linked.pass(3 * SECOND / 2, linked.left, linked.right);
      simulation.host(1).nic(1).stall(Duration.ofSeconds(30));
      long start = simulation.nanoTime();
      List<Long> queued = new ArrayList<>(requests.get(1));
      queued.removeIf(request -> linked.sending.test(request) != Result.IN_PROGRESS);
      for (long request : queued) {
        linked.outcome(linked.sending, request, linked.left, linked.right);
      }
      assertEquals(FailureCause.TIMED_OUT, failureOf(linked.sending, queued.getLast()).cause());
      assertTrue(simulation.nanoTime() - start < 2 * SECOND, "later than the bound");
    }
  }
}
