package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jofi.rdma.engine.Script;
import org.jofi.rdma.nic.OperationOwner;
import org.jofi.rdma.nic.Post;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.wire.MessageType;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rails that die or whose queue breaks, and things that are lost without a word. */
class LossesTest {
  private static final int MORE_THAN_A_QUEUE = 1 << 14;

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
        Listener listener = right.connections.connector().listen(null);
        Communicator one =
            new Communicator(line, left, right, new Script(random, 60), arena, pattern);
        one.connect(() -> right.connections.connector().handle(listener));
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
        Listener listener = right.connections.connector().listen(null);
        ConnectHandle handle = right.connections.connector().handle(listener);
        if (type == MessageType.REFUSE) {
          right.connections.connector().close(listener);
        }
        Attempt attempt = left.connections.connector().connect(handle);
        Linked.await(
            simulation,
            "connecting",
            () -> attempt.connection() != null || attempt.failure() != null,
            left,
            right);
        assertEquals(3, lossy.lost);
        SendConnection made = attempt.connection();
        if (type == MessageType.REFUSE) {
          Failure why = attempt.failure();
          assertNotNull(why);
          assertEquals(FailureCause.REFUSED, why.cause());
        } else {
          assertNotNull(made);
          ReceiveConnection accepted = listener.accept();
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
    Failure why = linked.receiving.failure(receive);
    assertNotNull(why);
    assertTrue(why.detail().contains("peer"), why::toString);
  }

  /**
   * A queue overruns, since a peer writes more than was announced to it: what comes over its rail
   * is not told, so that its receivers must fail.
   */
  @Test
  void aRailWhoseQueueBreaksFailsItsReceiversAndSaysWhy() {
    try (Simulation simulation =
            Simulation.of(Profile.EFA)
                .nicsPerHost(2)
                .faults(FaultPlan.none().with(Fault.CQ_OVERRUN))
                .open();
        Arena arena = Arena.ofShared()) {
      Node left = new Node(simulation, Profile.EFA, 0, 2);
      Node right = new Node(simulation, Profile.EFA, 1, 2);
      List<Linked> all =
          List.of(
              new Linked(simulation, arena, left, right),
              new Linked(simulation, arena, left, right));
      List<Long> receives = all.stream().map(linked -> linked.receive(64)).toList();
      int[] unannounced = new int[1];
      Linked.await(
          simulation,
          "flooding",
          () -> (unannounced[0] += flood(all.getFirst())) >= MORE_THAN_A_QUEUE,
          left);
      for (int i = 0; i < 2; i++) {
        Linked linked = all.get(i);
        long last = receives.get(i);
        assertEquals(FailureCause.FABRIC.code(), linked.outcome(linked.receiving, last, right)[0]);
        Failure why = linked.receiving.failure(last);
        assertNotNull(why);
        assertTrue(why.where().contains("fi_cq_read"), why::toString);
        assertTrue(why.where().contains("efa1"), why::toString);
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
    Listener listener = right.connections.connector().listen(null);
    Attempt attempt =
        left.connections.connector().connect(right.connections.connector().handle(listener));
    Linked.await(
        simulation,
        "refusing",
        () -> attempt.connection() != null || attempt.failure() != null,
        left,
        right);
    Failure why = attempt.failure();
    assertNotNull(why, "connected over a deaf rail");
    assertEquals(FailureCause.FABRIC, why.cause());
    assertTrue(why.detail().contains("out of use"), why::toString);
    assertEquals(1, listener.refused());
  }

  /** Writes once over the second rail, without a receive; how often it could. */
  private static int flood(Linked linked) {
    RailPort port = linked.left.host.endpoint.data(1);
    Post write = new Post();
    write.call = Post.Call.WRITE;
    write.address = linked.source.address();
    write.lengthBytes = 8;
    write.descriptor = linked.from.descriptor(1);
    write.peer = port.peer(linked.right.host.endpoint.data(1).address());
    write.bringsData = true;
    write.remoteAddress = linked.to.remoteAddress(1, linked.target.address());
    write.key = linked.to.key(1);
    return port.post(new Unheeded(), 0, write) == 0 ? 1 : 0;
  }

  private static final class Unheeded implements OperationOwner {
    @Override
    public void completed(long cookie, long lengthBytes) {}

    @Override
    public void failed(long cookie, RailPort port, Failure why) {}

    @Override
    public void lost(long cookie, RailPort port, Failure why) {}
  }
}
