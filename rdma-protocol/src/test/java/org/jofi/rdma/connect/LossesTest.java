package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jofi.mr.DataRegistration;
import org.jofi.rdma.message.Script;
import org.jofi.rdma.wire.MessageType;
import org.jofi.simulated.Fault;
import org.jofi.simulated.FaultPlan;
import org.jofi.simulated.Profile;
import org.jofi.simulated.Simulation;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rails that die or go deaf, and things that are lost without a word. */
class LossesTest {
  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  /** With tcp a write is done when it left, and is lost without a word if the NIC dies then. */
  static Stream<Profile> profilesThatTellOfLosses() {
    return profiles().filter(profile -> !profile.behaviour().completesOnTransmit());
  }

  private static Simulation simulation(Profile profile, int rails) {
    return Simulation.of(profile).nicsPerHost(rails).open();
  }

  @ParameterizedTest
  @MethodSource("profilesThatTellOfLosses")
  void whenARailDiesTheOthersCarryItAll(Profile profile) {
    for (int after = 0; after < 40; after += 4) {
      try (Simulation simulation = simulation(profile, 3);
          Arena arena = Arena.ofShared()) {
        Node left = new Node(simulation, profile, 0, 3);
        Node right = new Node(simulation, profile, 1, 3);
        MemorySegment pattern = arena.allocate(ProtocolRun.PATTERN_BYTES, 128);
        Random random = new Random(after);
        for (int at = 0; at < ProtocolRun.PATTERN_BYTES; at += Long.BYTES) {
          pattern.set(ValueLayout.JAVA_LONG, at, random.nextLong());
        }
        String line = "%s, NIC 1 of the sender dies after %d".formatted(profile.name(), after);
        Listener listener = right.connections.handshakes().listen();
        Communicator one =
            new Communicator(line, left, right, new Script(random, 60), arena, pattern);
        one.connect(() -> right.connections.handshakes().handle(listener));
        Linked.await(simulation, "connecting", one::isAnswered, left, right);
        one.receive = listener.accept();
        int when = after;
        Linked.await(
            simulation,
            line,
            () -> {
              one.step();
              if (one.successes >= when && !simulation.host(0).nic(1).isDead()) {
                simulation.host(0).nic(1).kill();
              }
              return one.isOver();
            },
            left,
            right);
        assertTrue(one.isWhole(), one::describe);
        one.close(false, false);
        Linked.await(simulation, "releasing", one::isReleased, left, right);
        one.verifyAndRelease();
        left.abort();
        right.abort();
        assertEquals(List.of(), simulation.openObjects(), line);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aLostRequestOrAnswerIsAskedForAgain(Profile profile) {
    for (MessageType type :
        new MessageType[] {MessageType.CONNECT, MessageType.ACCEPT, MessageType.REFUSE}) {
      try (Simulation simulation = simulation(profile, 1)) {
        Node left = new Node(simulation, profile, 0, 1);
        Node right = new Node(simulation, profile, 1, 1);
        LossyArrivals lossy =
            new LossyArrivals(type == MessageType.CONNECT ? right : left, type, 3);
        Listener listener = right.connections.handshakes().listen();
        ConnectHandle handle = right.connections.handshakes().handle(listener);
        if (type == MessageType.REFUSE) {
          right.connections.handshakes().close(listener);
        }
        Attempt attempt = left.connections.handshakes().connect(handle);
        Linked.await(
            simulation,
            "connecting",
            () -> attempt.side() != null || attempt.failure() != null,
            left,
            right);
        assertEquals(3, lossy.lost);
        SendSide made = attempt.side();
        if (type == MessageType.REFUSE) {
          Failure why = attempt.failure();
          assertNotNull(why);
          assertEquals(FailureCause.REFUSED, why.cause());
        } else {
          assertNotNull(made);
          ReceiveSide accepted = listener.accept();
          assertNotNull(accepted);
          assertNull(listener.accept(), "one attempt, one connection");
          left.connections.close(made);
          right.connections.close(accepted);
        }
        Linked.await(
            simulation,
            "releasing",
            () -> left.connections.live() + right.connections.live() == 0,
            left,
            right);
        left.close();
        right.close();
        assertEquals(List.of(), simulation.openObjects());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aLostCloseIsToldAgain(Profile profile) {
    for (MessageType type : new MessageType[] {MessageType.CLOSE, MessageType.CLOSED}) {
      try (Simulation simulation = simulation(profile, 1);
          Arena arena = Arena.ofShared()) {
        Linked linked = Linked.of(simulation, arena, profile, 1);
        LossyArrivals lossy =
            new LossyArrivals(type == MessageType.CLOSE ? linked.right : linked.left, type, 1);
        long start = simulation.nanoTime();
        linked.left.connections.close(linked.sending);
        linked.await("releasing", linked.sending::isReleased, linked.left, linked.right);
        assertEquals(1, lossy.lost);
        assertTrue(simulation.nanoTime() - start < Node.SILENCE_NS, "waited for the bound");
        linked.right.connections.close(linked.receiving);
        linked.await("releasing", linked.receiving::isReleased, linked.left, linked.right);
        linked.from.release();
        linked.to.release();
        linked.left.close();
        linked.right.close();
        assertEquals(List.of(), simulation.openObjects());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aMessageThatIsLostWithoutAWordFailsAtItsBound(Profile profile) {
    try (Simulation simulation = simulation(profile, 1);
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, profile, 1);
      LossyArrivals lossy = new LossyArrivals(linked.right, 1);
      long receive = linked.receive(64);
      long send = linked.send(64);
      assertEquals(64, linked.outcome(linked.sending, send, linked.left, linked.right)[0]);
      long[] received = linked.outcome(linked.receiving, receive, linked.left, linked.right);
      assertEquals(1, lossy.lost);
      assertLost(linked, receive, received);
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void entriesThatAreLostWithoutAWordAreWrittenAgain(Profile profile) {
    try (Simulation simulation = simulation(profile, 2);
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, profile, 2);
      long receive = linked.receive(4096);
      linked.pass(Node.SILENCE_NS / 20, linked.left, linked.right);
      linked.left.mailboxes.getLast().fill((byte) 0);
      long start = simulation.nanoTime();
      long send = linked.send(4096);
      assertTrue(simulation.nanoTime() - start < Node.SILENCE_NS, "waited for the bound");
      assertEquals(4096, linked.outcome(linked.sending, send, linked.left, linked.right)[0]);
      assertEquals(4096, linked.outcome(linked.receiving, receive, linked.left, linked.right)[0]);
    }
  }

  private static void assertLost(Linked linked, long receive, long[] outcome) {
    assertEquals(FailureCause.TIMED_OUT.code(), outcome[0]);
    assertTrue(
        outcome[1] >= Node.REQUEST_NS && outcome[1] < Node.REQUEST_NS + 3 * Node.SILENCE_NS,
        () -> "took " + outcome[1] + " ns");
    Failure why = linked.receiving.receiver().failure(receive);
    assertNotNull(why);
    assertTrue(why.detail().contains("peer"), why::toString);
  }

  /** A queue overruns: what comes over its rail is not told, so that its receivers must fail. */
  @Test
  void aRailThatGoesDeafFailsItsReceiversAndSaysWhy() {
    try (Simulation simulation =
            Simulation.of(Profile.EFA).faults(FaultPlan.none().with(Fault.CQ_OVERRUN)).open();
        Arena arena = Arena.ofShared()) {
      Node left = new Node(simulation, Profile.EFA, 0, 1);
      Node right = new Node(simulation, Profile.EFA, 1, 1);
      List<Linked> all =
          List.of(
              new Linked(simulation, arena, left, right),
              new Linked(simulation, arena, left, right));
      List<List<Long>> receives = new ArrayList<>();
      for (Linked linked : all) {
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < 128; i++) {
          ids.add(group(linked));
        }
        receives.add(ids);
      }
      // The entries are written, and then the receiver does not poll.
      Linked.await(simulation, "posting", () -> simulation.nanoTime() > 1_000_000, left, right);
      for (Linked linked : all) {
        List<Long> ids = new ArrayList<>();
        Linked.await(simulation, "sending", () -> sendAll(linked, ids) == 1024, left);
      }
      for (int i = 0; i < 2; i++) {
        Linked linked = all.get(i);
        long last = receives.get(i).getLast();
        assertEquals(FailureCause.FABRIC.code(), linked.outcome(linked.receiving, last, right)[0]);
        Failure why = linked.receiving.receiver().failure(last);
        assertNotNull(why);
        assertTrue(why.where().contains("fi_cq_read"), why::toString);
        assertTrue(why.where().contains("data rail 0"), why::toString);
        Linked.await(simulation, "telling", () -> linked.sending.failure() != null, left, right);
        assertEquals(
            FailureCause.PEER_ABORTED,
            java.util.Objects.requireNonNull(linked.sending.failure()).cause());
      }
      assertRefused(simulation, left, right);
    }
  }

  /** Its stripes might come over the deaf rail. */
  private static void assertRefused(Simulation simulation, Node left, Node right) {
    Listener listener = right.connections.handshakes().listen();
    Attempt attempt =
        left.connections.handshakes().connect(right.connections.handshakes().handle(listener));
    Linked.await(
        simulation,
        "refusing",
        () -> attempt.side() != null || attempt.failure() != null,
        left,
        right);
    Failure why = attempt.failure();
    assertNotNull(why, "connected over a deaf rail");
    assertEquals(FailureCause.FABRIC, why.cause());
    assertTrue(why.detail().contains("out of use"), why::toString);
    assertEquals(1, listener.refused());
  }

  private static long group(Linked linked) {
    int count = 8;
    long[] addresses = new long[count];
    long[] lengths = new long[count];
    int[] tags = new int[count];
    DataRegistration[] memory = new DataRegistration[count];
    for (int i = 0; i < count; i++) {
      addresses[i] = linked.target.address();
      memory[i] = linked.to;
    }
    long id = linked.receiving.receiver().receive(count, addresses, lengths, tags, memory);
    assertTrue(id > 0);
    return id;
  }

  /** How many were started in all. */
  private static long sendAll(Linked linked, List<Long> ids) {
    ids.removeIf(id -> linked.sending.sender().test(id) != Result.IN_PROGRESS);
    long id = linked.sending.sender().send(linked.source.address(), 0, 0, linked.from);
    if (id == Result.TRY_AGAIN) {
      return linked.sending.sender().started();
    }
    ids.add(id);
    return linked.sending.sender().started();
  }
}
