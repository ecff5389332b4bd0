package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jofi.fabric.FabricErrno;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.Handshake;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.Nonce;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ConnectionsTest {

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  private static Simulation simulation(Profile profile, long seed, int hosts, int rails) {
    return Simulation.of(profile)
        .seed(seed)
        .hosts(hosts)
        .nicsPerHost(rails)
        .faults(FaultPlan.survivable())
        .open();
  }

  private static void await(
      Simulation simulation, String what, BooleanSupplier done, Node... nodes) {
    Linked.await(simulation, what, done, nodes);
  }

  private static void closeAll(Simulation simulation, Node... nodes) {
    for (Node node : nodes) {
      node.close();
    }
    assertEquals(List.of(), simulation.openObjects());
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void manyConnectAtOnceSendAndClose(Profile profile) {
    for (long seed = 1; seed <= 20; seed++) {
      int rails = 1 + (int) seed % 3;
      try (Simulation simulation = simulation(profile, seed, 3, rails);
          Arena arena = Arena.ofShared()) {
        Node[] nodes = new Node[3];
        for (int i = 0; i < nodes.length; i++) {
          nodes[i] = new Node(simulation, profile, i, rails);
        }
        // Host 0 listens; each host, it among them, connects ten times.
        Listener listener = nodes[0].connections.connector().listen(null);
        ConnectHandle handle = nodes[0].connections.connector().handle(listener);
        List<Attempt> attempts = new ArrayList<>();
        Map<Attempt, Node> owners = new HashMap<>();
        for (int i = 0; i < 30; i++) {
          Attempt attempt = nodes[i % 3].connections.connector().connect(handle);
          attempts.add(attempt);
          owners.put(attempt, nodes[i % 3]);
        }
        await(
            simulation,
            "connecting",
            () -> attempts.stream().allMatch(attempt -> attempt.connection() != null),
            nodes);
        List<ReceiveConnection> accepted = new ArrayList<>();
        for (ReceiveConnection connection = listener.accept();
            connection != null;
            connection = listener.accept()) {
          accepted.add(connection);
        }
        assertEquals(30, accepted.size());
        MemorySegment memory = arena.allocate(8192, 64);
        exchange(simulation, nodes, attempts, owners, accepted, memory);
        for (Attempt attempt : attempts) {
          owners.get(attempt).connections.close(attempt.connection());
        }
        accepted.forEach(nodes[0].connections::close);
        await(
            simulation,
            "closing",
            () -> Stream.of(nodes).allMatch(node -> node.connections.live() == 0),
            nodes);
        assertEquals(0, listener.refused());
        closeAll(simulation, nodes);
      }
    }
  }

  /** One message over each connection, each of a length of its own. */
  private static void exchange(
      Simulation simulation,
      Node[] nodes,
      List<Attempt> attempts,
      Map<Attempt, Node> owners,
      List<ReceiveConnection> accepted,
      MemorySegment memory) {
    Map<Node, DataRegistration> registered = new HashMap<>();
    for (Node node : nodes) {
      registered.put(node, node.register(BufferRange.host(memory)));
    }
    Map<ReceiveConnection, Long> receives = new HashMap<>();
    for (ReceiveConnection connection : accepted) {
      receives.put(
          connection,
          Posting.receive(
              connection.receiver,
              1,
              new long[] {memory.address()},
              new long[] {4096},
              new int[] {9},
              new DataRegistration[] {registered.get(nodes[0])}));
    }
    Map<Attempt, Long> sends = new HashMap<>();
    List<Long> sent = new ArrayList<>();
    List<Long> got = new ArrayList<>();
    await(
        simulation,
        "exchanging",
        () -> {
          for (Attempt attempt : attempts) {
            long request = sends.getOrDefault(attempt, Result.TRY_AGAIN);
            if (request == Result.TRY_AGAIN) {
              sends.put(
                  attempt,
                  Posting.send(
                      attempt.connection().sender,
                      memory.address() + 4096,
                      100L * attempts.indexOf(attempt),
                      9,
                      registered.get(owners.get(attempt))));
            } else {
              keep(attempt.connection().test(request), sent);
            }
          }
          receives.forEach((connection, request) -> keep(connection.test(request), got));
          return sent.size() == 30 && got.size() == 30;
        },
        nodes);
    List<Long> lengths = Stream.iterate(0L, length -> length + 100).limit(30).toList();
    assertEquals(lengths, sent.stream().sorted().toList());
    assertEquals(lengths, got.stream().sorted().toList());
    registered.values().forEach(DataRegistration::release);
  }

  private static void keep(long result, List<Long> results) {
    if (result != Result.IN_PROGRESS && result != Result.STALE_REQUEST) {
      results.add(result);
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void whoDoesNotFitIsTurnedAwayAndTold(Profile profile) {
    try (Simulation simulation = simulation(profile, 5, 2, 2)) {
      Node left = new Node(simulation, profile, 0, 1);
      Node right = new Node(simulation, profile, 1, 2);
      Listener listener = right.connections.connector().listen(null);
      ConnectHandle handle = right.connections.connector().handle(listener);
      Attempt otherRails = left.connections.connector().connect(handle);
      Attempt guessing =
          left.connections
              .connector()
              .connect(
                  ConnectHandle.of(
                      handle.listener(),
                      new Nonce(1, 2).bytes(),
                      List.of(handle.address(0)),
                      handle.protocol(),
                      handle.release()));
      await(
          simulation,
          "refusing",
          () -> otherRails.failure() != null && guessing.failure() != null,
          left,
          right);
      Failure rails = otherRails.failure();
      assertNotNull(rails);
      assertEquals(FailureCause.INCOMPATIBLE, rails.cause());
      assertTrue(rails.detail().contains("2 data and 2 control"), rails::toString);
      Failure nonce = guessing.failure();
      assertNotNull(nonce);
      assertEquals(FailureCause.REFUSED, nonce.cause());
      assertEquals(2, listener.refused());
      assertNull(listener.accept());
      await(
          simulation,
          "freeing",
          () -> left.connections.live() + right.connections.live() == 0,
          left,
          right);
      closeAll(simulation, left, right);
    }
  }

  /** In both directions: each is told the version of the other. */
  @Test
  void aPeerOfAnotherVersionIsRefusedAndTold() {
    try (Simulation simulation = simulation(Profile.EFA, 7, 2, 1);
        Arena arena = Arena.ofShared()) {
      Node left = new Node(simulation, Profile.EFA, 0, 1);
      Node right = new Node(simulation, Profile.EFA, 1, 1);
      Listener listener = right.connections.connector().listen(null);
      ConnectHandle handle = right.connections.connector().handle(listener);
      Attempt attempt = left.connections.connector().connect(handle);
      MemorySegment message = arena.allocate(Handshake.MAX_BYTES, 8);
      int length = Handshake.put(message, attempt.request);
      message.set(ValueLayout.JAVA_BYTE, 4, (byte) 1);
      right.connections.message(message, length);
      await(simulation, "refusing", () -> attempt.failure() != null, left, right);
      assertEquals(FailureCause.INCOMPATIBLE, Objects.requireNonNull(attempt.failure()).cause());
      Attempt other = left.connections.connector().connect(handle);
      ConnectionId asked = other.request.id();
      ControlMessage.put(
          message,
          new ConnectionId(asked.from(), asked.fromGeneration(), 0, 0, asked.attempt()),
          MessageType.REFUSE,
          0,
          ControlMessage.ofRails(1, 1),
          FailureCause.INCOMPATIBLE);
      message.set(ValueLayout.JAVA_BYTE, 4, (byte) 1);
      left.connections.message(message, ControlMessage.BYTES);
      Failure why = Objects.requireNonNull(other.failure());
      assertEquals(FailureCause.INCOMPATIBLE, why.cause());
      assertTrue(
          why.detail()
              .contains("version 1 of the protocol, this side version " + ProtocolLimits.VERSION),
          why::toString);
      right.connections.connector().close(listener);
      await(
          simulation,
          "freeing",
          () -> left.connections.live() + right.connections.live() == 0,
          left,
          right);
      closeAll(simulation, left, right);
    }
  }

  /** A receive may be longer than all that the sender's NICs could send at once. */
  @ParameterizedTest
  @MethodSource("profiles")
  void sidesNeedNotMoveMessagesOfTheSameLength(Profile profile) {
    long[][] limits = {{Linked.BYTES / 2, Linked.BYTES}, {Linked.BYTES, Linked.BYTES / 2}};
    for (long[] most : limits) {
      try (Simulation simulation = simulation(profile, 8, 2, 2);
          Arena arena = Arena.ofShared()) {
        Node[] nodes = new Node[2];
        for (int i = 0; i < nodes.length; i++) {
          nodes[i] = new Node(simulation, profile, i, 2, Node.REQUEST_NS, Node.SILENCE_NS, most[i]);
        }
        Linked linked = new Linked(simulation, arena, nodes[0], nodes[1]);
        long moved = Linked.BYTES / 2;
        long receive = linked.receive(most[1]);
        long send = linked.send(moved);
        assertEquals(moved, linked.outcome(linked.sending, send, nodes)[0]);
        assertEquals(moved, linked.outcome(linked.receiving, receive, nodes)[0]);
        linked.finish(linked.from, linked.to);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void nobodyWaitsForADeadListenerWithoutEnd(Profile profile) {
    try (Simulation simulation = simulation(profile, 6, 2, 1)) {
      Node left = new Node(simulation, profile, 0, 1);
      Node right = new Node(simulation, profile, 1, 1);
      ConnectHandle handle =
          right.connections.connector().handle(right.connections.connector().listen(null));
      simulation.host(1).kill();
      long start = simulation.nanoTime();
      Attempt attempt = left.connections.connector().connect(handle);
      await(simulation, "failing", () -> attempt.failure() != null, left);
      assertTrue(simulation.nanoTime() - start < 2 * Node.BOUND_NS);
      Failure failure = attempt.failure();
      assertNotNull(failure);
      assertTrue(
          failure.cause() == FailureCause.TIMED_OUT || failure.cause() == FailureCause.PEER_LOST,
          failure::toString);
    }
  }

  /** It may be that it ended it in favour of another, as where both sides connect at once. */
  @Test
  void aListenerThatEndedAConnectionIsAskedAgain() {
    try (Simulation simulation = simulation(Profile.TCP, 7, 2, 1)) {
      Node left = new Node(simulation, Profile.TCP, 0, 1);
      Node right = new Node(simulation, Profile.TCP, 1, 1);
      Listener listener = right.connections.connector().listen(null);
      ConnectHandle handle = right.connections.connector().handle(listener);
      Failure ended =
          new Failure(FailureCause.PEER_LOST, FabricErrno.ENOTCONN, "fi_send", "not connected");
      Attempt twice = left.connections.connector().connect(handle);
      twice.sent(0, ended);
      assertNull(twice.failure());
      twice.sent(0, ended);
      assertEquals(ended, twice.failure());
      Attempt once = left.connections.connector().connect(handle);
      once.sent(0, ended);
      await(simulation, "connecting", () -> once.connection() != null, left, right);
      Attempt refused = left.connections.connector().connect(handle);
      refused.sent(
          0, new Failure(FailureCause.PEER_LOST, FabricErrno.ECONNREFUSED, "fi_send", "refused"));
      assertNotNull(refused.failure());
      closeAll(simulation, left, right);
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aCloseFailsWhatIsPendingOnBothSidesAndDisturbsNobody(Profile profile) {
    try (Simulation simulation = simulation(profile, 7, 2, 1);
        Arena arena = Arena.ofShared()) {
      Node left = new Node(simulation, profile, 0, 1);
      Node right = new Node(simulation, profile, 1, 1);
      Listener listener = right.connections.connector().listen(null);
      ConnectHandle handle = right.connections.connector().handle(listener);
      Attempt first = left.connections.connector().connect(handle);
      Attempt second = left.connections.connector().connect(handle);
      await(
          simulation,
          "connecting",
          () -> first.connection() != null && second.connection() != null,
          left,
          right);
      ReceiveConnection one = listener.accept();
      ReceiveConnection two = listener.accept();
      assertNotNull(one);
      assertNotNull(two);
      DataRegistration memory = right.register(BufferRange.host(arena.allocate(64, 64)));
      long pendingOne = post(one, memory);
      long pendingTwo = post(two, memory);
      boolean firstIsOne = first.connection().id().to() == one.id().from();
      left.connections.close(firstIsOne ? first.connection() : second.connection());
      List<Long> results = new ArrayList<>();
      await(
          simulation,
          "closing",
          () -> {
            keep(one.test(pendingOne), results);
            return !results.isEmpty();
          },
          left,
          right);
      assertEquals(List.of(FailureCause.PEER_CLOSED.code()), results);
      assertEquals(Result.IN_PROGRESS, two.test(pendingTwo));
      right.connections.close(two);
      await(
          simulation,
          "closing",
          () -> {
            keep(two.test(pendingTwo), results);
            return results.size() == 2;
          },
          left,
          right);
      assertEquals(FailureCause.CLOSED.code(), results.getLast());
      right.connections.close(one);
      left.connections.close(firstIsOne ? second.connection() : first.connection());
      await(
          simulation,
          "releasing",
          () -> left.connections.live() + right.connections.live() == 0,
          left,
          right);
      memory.release();
      closeAll(simulation, left, right);
    }
  }

  private static long post(ReceiveConnection connection, DataRegistration memory) {
    return Posting.receive(
        connection.receiver,
        1,
        new long[] {memory.range().address()},
        new long[] {64},
        new int[] {0},
        new DataRegistration[] {memory});
  }
}
