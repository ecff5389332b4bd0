package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An acceptor writes and reads nothing before the connector knows it on every rail. */
class ReadyTest {
  private static final int RAILS = 2;
  private static final int BYTES = 4096;

  /** So many answers of the acceptor are lost, and the connector asks again for each. */
  private static final int LOST = 3;

  private static final long SHORT_NS = Node.BOUND_NS / 64;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  /** An acceptor that has accepted and posted all it can, and a connector. */
  private static final class Half {
    final Simulation simulation;
    final Node left;
    final Node right;
    final LossyArrivals lossy;
    final Attempt attempt;
    final ReceiveConnection accepted;
    final MemorySegment far;
    final MemorySegment near;
    final DataRegistration exposed;
    final DataRegistration own;
    final long receive;
    final long write;
    final long read;

    Half(Simulation simulation, Profile profile, Arena arena, boolean losesReady) {
      this.simulation = simulation;
      left = new Node(simulation, profile, 0, RAILS);
      right = new Node(simulation, profile, 1, RAILS);
      lossy =
          losesReady
              ? new LossyArrivals(right, MessageType.READY, 1)
              : new LossyArrivals(left, MessageType.ACCEPT, LOST);
      Listener listener = right.connections.connector().listen(null);
      attempt =
          left.connections.connector().connect(right.connections.connector().handle(listener));
      ReceiveConnection[] got = new ReceiveConnection[1];
      Linked.await(
          simulation,
          "accepting",
          () -> {
            got[0] = listener.accept();
            return got[0] != null;
          },
          left,
          right);
      accepted = got[0];
      far = arena.allocate(BYTES, 64);
      near = arena.allocate(BYTES + 8, 64).fill((byte) 3);
      exposed = left.register(BufferRange.host(far));
      own = right.register(BufferRange.host(near));
      receive =
          Posting.receive(
              accepted.receiver,
              1,
              new long[] {near.address()},
              new long[] {BYTES},
              new int[] {7},
              new DataRegistration[] {own});
      write = Posting.write(accepted, near.address(), BYTES, own, Pair.remote(exposed), 0);
      read = Posting.read(accepted, near.address() + BYTES, 8, own, Pair.remote(exposed), 0);
    }

    long outcome(Connection connection, long request) {
      long[] result = {Result.IN_PROGRESS};
      Linked.await(
          simulation,
          "request",
          () -> {
            result[0] = connection.test(request);
            return result[0] != Result.IN_PROGRESS;
          },
          left,
          right);
      return result[0];
    }

    void pass(long nanos) {
      long end = simulation.nanoTime() + nanos;
      Linked.await(simulation, "waiting", () -> simulation.nanoTime() >= end, left, right);
    }

    void assertUntouched() {
      assertEquals(-1, far.mismatch(MemorySegment.ofArray(new byte[BYTES])), "written already");
      MemorySegment mailbox = attempt.mailbox.memory;
      byte[] nothing = new byte[(int) mailbox.byteSize()];
      assertEquals(-1, mailbox.mismatch(MemorySegment.ofArray(nothing)), "announced already");
      for (long request : new long[] {receive, write, read}) {
        assertEquals(Result.IN_PROGRESS, accepted.test(request));
      }
    }

    /** All that was posted comes to its good end. */
    void assertWhole() {
      Linked.await(simulation, "connecting", () -> attempt.connection() != null, left, right);
      SendConnection connection = attempt.connection();
      assertNotNull(connection);
      assertEquals(BYTES, outcome(accepted, write));
      assertEquals(8, outcome(accepted, read));
      assertEquals(-1, far.mismatch(near.asSlice(0, BYTES)), "what was written is there");
      long send = Posting.send(connection.sender, far.address(), BYTES, 7, exposed);
      assertEquals(BYTES, outcome(connection, send));
      assertEquals(BYTES, outcome(accepted, receive));
      left.connections.close(connection);
      right.connections.close(accepted);
      Linked.await(
          simulation,
          "releasing",
          () -> left.connections.live() + right.connections.live() == 0,
          left,
          right);
      exposed.release();
      own.release();
      left.close();
      right.close();
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  private static Simulation simulation(Profile profile) {
    return Simulation.of(profile).nicsPerHost(RAILS).open();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void nothingIsWrittenBeforeTheConnectorKnowsTheAcceptor(Profile profile) {
    try (Simulation simulation = simulation(profile);
        Arena arena = Arena.ofShared()) {
      Half half = new Half(simulation, profile, arena, false);
      for (int lost = 1; lost <= LOST; lost++) {
        int so = lost;
        Linked.await(simulation, "losing", () -> half.lossy.lost == so, half.left, half.right);
        half.pass(SHORT_NS);
        assertNull(half.attempt.connection());
        half.assertUntouched();
      }
      long flush = half.accepted.flushes.flush(half.near.address(), 64, half.own);
      half.outcome(half.accepted, flush);
      half.assertUntouched();
      half.assertWhole();
    }
  }

  /** The acceptor waits for the connector, so it asks whether it is there. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aLostReadyIsMadeGoodByThePing(Profile profile) {
    try (Simulation simulation = simulation(profile);
        Arena arena = Arena.ofShared()) {
      Half half = new Half(simulation, profile, arena, true);
      long start = simulation.nanoTime();
      Linked.await(simulation, "losing", () -> half.lossy.lost == 1, half.left, half.right);
      half.pass(SHORT_NS);
      half.assertUntouched();
      half.assertWhole();
      assertTrue(simulation.nanoTime() - start < Node.SILENCE_NS, "waited for the bound");
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aReadyOfAnotherConnectionIsDropped(Profile profile) {
    try (Simulation simulation = simulation(profile);
        Arena arena = Arena.ofShared()) {
      Half half = new Half(simulation, profile, arena, false);
      ConnectionId right = half.accepted.id().reversed();
      int other = right.to() % ProtocolLimits.MAX_COMMUNICATOR + 1;
      int older = right.toGeneration() % ProtocolLimits.MAX_GENERATION + 1;
      int others = right.fromGeneration() % ProtocolLimits.MAX_GENERATION + 1;
      ConnectionId[] forged = {
        new ConnectionId(
            right.to(),
            right.toGeneration(),
            right.from(),
            right.fromGeneration(),
            right.attempt() + 1),
        new ConnectionId(right.to(), older, right.from(), right.fromGeneration(), right.attempt()),
        new ConnectionId(right.to(), right.toGeneration(), right.from(), others, right.attempt()),
        new ConnectionId(other, right.toGeneration(), right.from(), others, right.attempt()),
      };
      MemorySegment message = arena.allocate(ControlMessage.BYTES, 8);
      for (ConnectionId connectionId : forged) {
        long dropped = half.right.connections.dropped();
        ControlMessage.put(message, connectionId, MessageType.READY, 0, 0, null);
        half.right.connections.message(message, ControlMessage.BYTES);
        assertEquals(dropped + 1, half.right.connections.dropped(), connectionId::toString);
      }
      half.pass(SHORT_NS);
      half.assertUntouched();
      half.assertWhole();
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aConnectorThatDiesBeforeItCountsAsLostInTime(Profile profile) {
    try (Simulation simulation = simulation(profile);
        Arena arena = Arena.ofShared()) {
      Half half = new Half(simulation, profile, arena, false);
      simulation.host(0).kill();
      long start = simulation.nanoTime();
      for (long request : new long[] {half.receive, half.write, half.read}) {
        Linked.await(
            simulation,
            "failing",
            () -> half.accepted.failure() != null && half.accepted.failure(request) != null,
            half.right);
        assertEquals(FailureCause.PEER_LOST.code(), half.accepted.test(request));
      }
      assertTrue(simulation.nanoTime() - start < 2 * Node.SILENCE_NS, "not within the bound");
    }
  }
}
