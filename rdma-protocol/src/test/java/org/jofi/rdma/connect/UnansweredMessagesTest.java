package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.util.List;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Short messages over several rails, of whose arrival nobody asks at once. */
class UnansweredMessagesTest {
  private static final long SHORT = 8;
  private static final long MILLISECOND = 1_000_000;
  private static final long NEVER = 600_000 * MILLISECOND;

  /** More than the receiver tells of without being asked. */
  private static final EagerGrant EAGER = new EagerGrant(128, (int) SHORT);

  /**
   * A rail over which a short message went, and nothing since, is not silent, though the peer is
   * heard: it is asked.
   */
  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void aRailOverWhichNothingFollowsIsAsked(int rails) {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(rails).open()) {
      Node left = node(simulation, 0, rails);
      Node right = node(simulation, 1, rails);
      Linked there = new Linked(simulation, arena, left, right);
      Linked back = new Linked(simulation, arena, right, left);
      there.pass(1000 * MILLISECOND, left, right);
      exchange(there);
      for (int i = 0; i < 60; i++) {
        exchange(back);
        there.pass(50 * MILLISECOND, left, right);
      }
      assertEquals(List.of(), left.host.railChanges());
      back.finishConnectionsOnly();
      there.finish(there.from, there.to, back.from, back.to);
    }
  }

  private static Node node(Simulation simulation, int index, int rails) {
    return new Node(simulation, Profile.TCP, index, rails, NEVER, NEVER, Linked.BYTES, EAGER);
  }

  private static void exchange(Linked linked) {
    long receive = linked.receive(SHORT);
    long send = linked.queue(SHORT);
    assertEquals(SHORT, linked.outcome(linked.receiving, receive, linked.left, linked.right)[0]);
    assertEquals(SHORT, linked.outcome(linked.sending, send, linked.left, linked.right)[0]);
  }
}
