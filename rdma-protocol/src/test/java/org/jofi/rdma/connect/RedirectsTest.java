package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jofi.rdma.wire.ConnectRedirect;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.Handshake;
import org.jofi.rdma.wire.Nonce;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.junit.jupiter.api.Test;

/** Connectors that are sent to another listener, by a listener or by who pretends to be one. */
class RedirectsTest {
  private static final int ROUNDS = 1_000_000;

  private static void await(Simulation simulation, BooleanSupplier done, Node... nodes) {
    for (int round = 0; !done.getAsBoolean(); round++) {
      assertTrue(round < ROUNDS);
      int events = 0;
      for (Node node : nodes) {
        events += node.connections.progress();
      }
      if (events == 0) {
        simulation.idle();
      }
    }
  }

  /** As whoever accepts or tends does, the listener's side opens what connectors wait for. */
  private static void awaitServed(
      Simulation simulation, BooleanSupplier done, Node left, Node right) {
    await(
        simulation,
        () -> {
          right.connections.connector().redirects().serve(Runnable::run);
          return done.getAsBoolean();
        },
        left,
        right);
  }

  private static void tell(Node to, Attempt attempt, List<Integer> rails, ConnectHandle handle) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment message = arena.allocate(Handshake.MAX_BYTES, 8);
      ConnectionId id = attempt.request.id().reversed();
      int length = Handshake.put(message, new ConnectRedirect(id, 1, rails, handle));
      to.connections.message(message, length);
    }
  }

  @Test
  void whoHasMoreRailsThanTheListenerUsesFewer() {
    try (Simulation simulation = Simulation.of(Profile.CXI).seed(1).nicsPerHost(3).open()) {
      Node left = new Node(simulation, Profile.CXI, 0, 3);
      Node right = new Node(simulation, Profile.CXI, 1, 2);
      Connector listening = right.connections.connector();
      Listener listener =
          listening.listen(
              (rails, peer) -> {
                throw new AssertionError("the listener uses all of its rails, for " + peer);
              });
      ConnectHandle handle = listening.handle(listener);
      Attempt attempt = left.connections.connector().connect(handle);
      await(simulation, () -> attempt.redirect() != null, left, right);
      ConnectRedirect redirect = Objects.requireNonNull(attempt.redirect());
      assertEquals(List.of(0, 1), redirect.rails());
      assertEquals(2, redirect.listenerRails());
      assertEquals(handle, redirect.handle());
      assertNull(attempt.failure());
      assertEquals(0, listener.refused());
      // The caller goes on elsewhere; here all is free again.
      await(simulation, () -> left.connections.connector().attempts() == 0, left, right);
      assertEquals(0, left.connections.live() + right.connections.live());
      listening.close(listener);
      left.close();
      right.close();
    }
  }

  @Test
  void whoHasFewerWaitsUntilAListenerIsOpened() {
    try (Simulation simulation = Simulation.of(Profile.EFA).seed(2).nicsPerHost(3).open()) {
      Node left = new Node(simulation, Profile.EFA, 0, 1);
      Node right = new Node(simulation, Profile.EFA, 1, 3);
      List<List<Integer>> opened = new ArrayList<>();
      Connector listening = right.connections.connector();
      ConnectHandle[] there = new ConnectHandle[1];
      Listener listener =
          listening.listen(
              (rails, peer) -> {
                opened.add(rails);
                assertTrue(peer.endsWith(", which has 1"), peer);
                if (there[0] == null) {
                  throw new TransportException(FailureCause.FABRIC, "no queue left");
                }
                return there[0];
              });
      ConnectHandle handle = listening.handle(listener);
      Attempt refused = left.connections.connector().connect(handle);
      awaitServed(simulation, () -> refused.failure() != null, left, right);
      Failure why = Objects.requireNonNull(refused.failure());
      assertEquals(FailureCause.EXHAUSTED, why.cause());
      assertTrue(
          why.detail().contains("3 data and 3 control rails, this side 1 and 1"), why::detail);
      assertEquals(1, listener.refused());

      there[0] =
          ConnectHandle.of(
              9,
              new Nonce(1, 2).bytes(),
              List.of(handle.address(1)),
              handle.protocol(),
              handle.release());
      List<Attempt> attempts = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        attempts.add(left.connections.connector().connect(handle));
      }
      awaitServed(
          simulation,
          () -> attempts.stream().allMatch(attempt -> attempt.redirect() != null),
          left,
          right);
      for (Attempt attempt : attempts) {
        assertEquals(there[0], Objects.requireNonNull(attempt.redirect()).handle());
        assertEquals(List.of(0), Objects.requireNonNull(attempt.redirect()).rails());
      }
      assertTrue(opened.stream().allMatch(List.of(0)::equals), opened::toString);
      int before = opened.size();
      // From then on it is named at once.
      Attempt next = left.connections.connector().connect(handle);
      await(simulation, () -> next.redirect() != null, left, right);
      assertEquals(before, opened.size());
      // Who waits for a listener that is closed before it is served, is told when it asks again.
      Listener other =
          listening.listen(
              (rails, peer) -> {
                throw new AssertionError("it is closed");
              });
      Attempt late = left.connections.connector().connect(listening.handle(other));
      int heard = right.connections.progress();
      for (int round = 0; heard == 0 && round < ROUNDS; round++) {
        left.connections.progress();
        heard = right.connections.progress();
        simulation.idle();
      }
      listening.close(other);
      awaitServed(simulation, () -> late.failure() != null, left, right);
      assertEquals(FailureCause.REFUSED, Objects.requireNonNull(late.failure()).cause());
      listening.close(listener);
      left.close();
      right.close();
    }
  }

  @Test
  void whatIsNoRedirectOfAnAttemptChangesNothing() {
    try (Simulation simulation = Simulation.of(Profile.CXI).seed(3).nicsPerHost(2).open();
        Arena arena = Arena.ofShared()) {
      Node left = new Node(simulation, Profile.CXI, 0, 2);
      Node right = new Node(simulation, Profile.CXI, 1, 2);
      Connector connector = left.connections.connector();
      Listener listener = right.connections.connector().listen(null);
      ConnectHandle handle = right.connections.connector().handle(listener);
      Attempt attempt = connector.connect(handle);
      MemorySegment message = arena.allocate(Handshake.MAX_BYTES, 8);
      ConnectionId id = attempt.request.id().reversed();
      int length = Handshake.put(message, new ConnectRedirect(id, 2, List.of(1), handle));
      for (int cut = 0; cut < length; cut++) {
        left.connections.message(message, cut);
      }
      ConnectionId other = new ConnectionId(id.to(), id.toGeneration(), 0, 0, id.attempt() + 1);
      length = Handshake.put(message, new ConnectRedirect(other, 2, List.of(1), handle));
      left.connections.message(message, length);
      assertNull(attempt.failure());
      assertNull(attempt.redirect());
      await(simulation, () -> attempt.connection() != null, left, right);
      // It is late for one that stands.
      tell(left, attempt, List.of(0), handle);
      assertNull(attempt.redirect());
      assertNotNull(attempt.connection());
      left.connections.abort(Objects.requireNonNull(attempt.connection()));
      right.connections.connector().close(listener);
      await(simulation, () -> left.connections.live() + right.connections.live() == 0, left, right);
      left.close();
      right.close();
    }
  }

  private static void incompatible(Attempt attempt, String words) {
    Failure why = Objects.requireNonNull(attempt.failure());
    assertEquals(FailureCause.INCOMPATIBLE, why.cause());
    assertTrue(why.detail().contains(words), why::detail);
  }

  @Test
  void anAttemptIsSentOnOnceAndOverRailsThatThereAre() {
    try (Simulation simulation = Simulation.of(Profile.TCP).seed(4).nicsPerHost(2).open()) {
      Node left = new Node(simulation, Profile.TCP, 0, 2);
      Node right = new Node(simulation, Profile.TCP, 1, 1);
      Connector connector = left.connections.connector();
      ConnectHandle handle =
          right.connections.connector().handle(right.connections.connector().listen(null));
      Attempt wrong = connector.connect(handle);
      tell(left, wrong, List.of(0, 2), handle);
      incompatible(wrong, "names a rail");
      Attempt first = connector.connect(handle);
      tell(left, first, List.of(1), handle);
      assertNotNull(first.redirect());
      Attempt second = connector.redirect(first, handle);
      tell(left, second, List.of(1), handle);
      assertNull(second.redirect());
      incompatible(second, "sends it on");
      assertEquals(first.deadline, second.deadline);
      await(simulation, () -> connector.attempts() == 0, left, right);
      left.close();
      right.close();
    }
  }
}
