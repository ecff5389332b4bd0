package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Closing to a peer that does not answer waits for it once. */
class SilentPeersTest {
  private static final int LINKS = 5;

  static List<Profile> profiles() {
    return List.of(Profile.TCP, Profile.EFA);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void onlyTheFirstCloseWaitsUntilThePeerAnswers(Profile profile) {
    try (Simulation simulation = Simulation.of(profile).nicsPerHost(1).open()) {
      Node left = new Node(simulation, profile, 0, 1);
      Node right = new Node(simulation, profile, 1, 1);
      List<Pair> links = new ArrayList<>();
      for (int i = 0; i < LINKS; i++) {
        links.add(Pair.of(simulation, left, right, "link " + i));
      }

      assertWaits(closeNs(simulation, links.get(0), left));
      assertDoesNotWait(closeNs(simulation, links.get(1), left));
      pass(simulation, 5 * Node.BOUND_NS, left);
      assertDoesNotWait(closeNs(simulation, links.get(2), left));

      pass(simulation, 5 * Node.BOUND_NS, left, right);
      assertWaits(closeNs(simulation, links.get(3), left));
      pass(simulation, 5 * Node.BOUND_NS, left, right);
      assertDoesNotWait(closeNs(simulation, links.get(4), left, right));

      links.forEach(link -> right.connections.close(link.receives));
      pass(simulation, 2 * Node.BOUND_NS, left, right);
      left.close();
      right.close();
      links.forEach(link -> link.arena.close());
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void whomOneEndpointFindsDeadTheOthersDoNotWaitFor(Profile profile) {
    try (Simulation simulation = Simulation.of(profile).hosts(3).nicsPerHost(1).open()) {
      AtomicLong suspicions = new AtomicLong();
      Node left = new Node(simulation, profile, 0, suspicions);
      Node other = new Node(simulation, profile, 2, suspicions);
      Node right = new Node(simulation, profile, 1, 1);
      List<Pair> links =
          List.of(
              Pair.of(simulation, left, right, "left"), Pair.of(simulation, other, right, "other"));

      assertWaits(closeNs(simulation, links.get(0), left, other));
      pass(simulation, Node.BOUND_NS, left, other);
      assertDoesNotWait(closeNs(simulation, links.get(1), other));

      links.forEach(link -> right.connections.close(link.receives));
      pass(simulation, 2 * Node.BOUND_NS, left, other, right);
      left.close();
      other.close();
      right.close();
      links.forEach(link -> link.arena.close());
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  private static void assertWaits(long nanos) {
    assertTrue(
        nanos >= Node.SILENCE_NS && nanos < Node.BOUND_NS * 5 / 4,
        () -> "it took %d".formatted(nanos));
  }

  private static void assertDoesNotWait(long nanos) {
    assertTrue(nanos < Node.BOUND_NS / 10, () -> "it took %d".formatted(nanos));
  }

  /** How long a close takes, in virtual time, where only those poll. */
  private static long closeNs(Simulation simulation, Pair link, Node... polling) {
    long start = simulation.nanoTime();
    link.left.connections.close(link.sends);
    link.await("closing", link.sends::isReleased, polling);
    return simulation.nanoTime() - start;
  }

  private static void pass(Simulation simulation, long nanos, Node... polling) {
    long end = simulation.nanoTime() + nanos;
    Linked.await(simulation, "waiting", () -> simulation.nanoTime() >= end, polling);
  }
}
