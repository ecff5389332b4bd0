package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Link;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Receives that were announced over several sockets, of which few tell that entries arrived. */
class UnseenEntriesTest {
  private static final int SILENT = 1;
  private static final long SHORT = 8;

  /** Fewer than make a row, after which long receives are withheld. */
  private static final int EARLY = 10;

  private static final long MILLISECOND = 1_000_000;
  private static final long SECOND = 1000 * MILLISECOND;
  private static final long NEVER = 600 * SECOND;

  /** Entries that left over a rail which fell silent are written again over others. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void entriesThatLeftOverASilentRailAreWrittenAgain(int rails) {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(rails).open()) {
      Linked linked = linked(simulation, arena, rails);
      for (int i = 0; i < 40; i++) {
        exchange(linked, linked.receive(Linked.BYTES));
      }
      linked.pass(SECOND, linked.left, linked.right);
      simulation.host(0).nic(SILENT).stall(Duration.ofSeconds(20));
      List<Long> receives = new ArrayList<>();
      for (int i = 0; i < 3 * rails; i++) {
        receives.add(linked.receive(Linked.BYTES));
        linked.pass(MILLISECOND, linked.left, linked.right);
      }
      long start = simulation.nanoTime();
      for (long receive : receives) {
        exchange(linked, receive);
      }
      long took = simulation.nanoTime() - start;
      assertTrue(took < 7 * SECOND, "ms: " + took / MILLISECOND);
      linked.pass(40 * SECOND, linked.left, linked.right);
      for (int i = 0; i < 40; i++) {
        exchange(linked, linked.receive(Linked.BYTES));
      }
      linked.finish(linked.from, linked.to);
    }
  }

  /** The same if their NIC dies at any time after they were posted. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void entriesThatADeadNicHadAreWrittenAgain(int rails) {
    for (int after = 0; after < 12; after++) {
      for (int before = 0; before < 2 * rails; before++) {
        try (Arena arena = Arena.ofShared();
            Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(rails).open()) {
          Linked linked = linked(simulation, arena, rails);
          for (int i = 0; i < 40 + before; i++) {
            exchange(linked, linked.receive(Linked.BYTES));
          }
          linked.pass(SECOND, linked.left, linked.right);
          long receive = linked.receive(Linked.BYTES);
          for (int round = 0; round < after; round++) {
            linked.right.connections.progress();
            simulation.idle();
          }
          simulation.host(0).nic(SILENT).kill();
          long start = simulation.nanoTime();
          exchange(linked, receive);
          long took = simulation.nanoTime() - start;
          assertTrue(took < 10 * SECOND, "ms: " + took / MILLISECOND);
          linked.finish(linked.from, linked.to);
        }
      }
    }
  }

  /** Nobody sends to a receive, so that nothing shows that its entry arrived: closing asks. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void closingWaitsForNoLook(int rails) {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.TCP).nicsPerHost(rails).open()) {
      Linked linked = linked(simulation, arena, rails);
      for (int i = 0; i < 40; i++) {
        exchange(linked, linked.receive(Linked.BYTES));
      }
      linked.receive(Linked.BYTES);
      linked.pass(MILLISECOND, linked.left, linked.right);
      linked.receive(Linked.BYTES);
      linked.pass(MILLISECOND, linked.left, linked.right);
      long start = simulation.nanoTime();
      linked.receiving.closeHere(
          new Failure(FailureCause.CLOSED, 0, "test", ""), start + 60 * SECOND);
      linked.await("quiet", linked.receiving::isQuiet, linked.left, linked.right);
      long took = simulation.nanoTime() - start;
      assertTrue(took < 10 * MILLISECOND, "us: " + took / 1000);
      linked.finish(linked.from, linked.to);
    }
  }

  /** A mailbox that its peer lets go of may be another connection's: nothing lands there then. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void whatLeftIsThereWhenItsSideIsQuiet(int rails) {
    try (Arena arena = Arena.ofShared();
        Simulation simulation =
            Simulation.of(Profile.TCP)
                .nicsPerHost(rails)
                .links((_, _, _, _) -> new Link(5 * MILLISECOND, 1_000_000_000))
                .open()) {
      Linked linked = linked(simulation, arena, rails);
      for (int i = 0; i < 40; i++) {
        exchange(linked, linked.receive(Linked.BYTES));
      }
      for (int i = 0; i < 3 * rails; i++) {
        linked.receive(Linked.BYTES);
        linked.right.connections.progress();
      }
      linked.receiving.closeHere(
          new Failure(FailureCause.CLOSED, 0, "test", ""), simulation.nanoTime() + 60 * SECOND);
      linked.await("quiet", linked.receiving::isQuiet, linked.left, linked.right);
      long written = linked.receiving.protocol.writes();
      assertTrue(written > 40, "entries: " + written);
      assertEquals(written, linked.sending.protocol.arrived());
      linked.finish(linked.from, linked.to);
    }
  }

  /** Short messages filled receives before their sender saw the entries, which it sees in order. */
  @Test
  void anEntryIsNotUsedAgainBeforeItWasSeen() {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.TCP).open()) {
      Linked linked =
          new Linked(simulation, arena, eagerNode(simulation, 0), eagerNode(simulation, 1));
      List<Long> receives = new ArrayList<>();
      for (int i = 0; i < MailboxLayout.ENTRIES; i++) {
        receives.add(linked.receive(Linked.BYTES));
      }
      for (int i = 0; i < EARLY; i++) {
        linked.queue(SHORT);
      }
      for (int i = 0; i < EARLY; i++) {
        long receive = receives.removeFirst();
        assertEquals(
            SHORT, linked.outcome(linked.receiving, receive, linked.left, linked.right)[0]);
        receives.add(linked.receive(Linked.BYTES));
      }
      linked.pass(10 * MILLISECOND, linked.left, linked.right);
      assertEquals(MailboxLayout.ENTRIES + 1, linked.sending.protocol.firstUnseen());
      for (long receive : receives) {
        exchange(linked, receive);
      }
      linked.finish(linked.from, linked.to);
    }
  }

  private static Node eagerNode(Simulation simulation, int index) {
    EagerGrant eager = new EagerGrant(EARLY, (int) SHORT);
    return new Node(simulation, Profile.TCP, index, 1, NEVER, NEVER, Linked.BYTES, eager);
  }

  private static Linked linked(Simulation simulation, Arena arena, int rails) {
    Linked linked =
        new Linked(simulation, arena, node(simulation, 0, rails), node(simulation, 1, rails));
    for (int at = 0; at < Linked.BYTES; at++) {
      linked.source.set(ValueLayout.JAVA_BYTE, at, (byte) (at * 31 + (at >> 8)));
    }
    return linked;
  }

  private static Node node(Simulation simulation, int index, int rails) {
    return new Node(simulation, Profile.TCP, index, rails, NEVER, NEVER);
  }

  private static void exchange(Linked linked, long receive) {
    linked.target.fill((byte) 0);
    long send = linked.queue(Linked.BYTES);
    assertEquals(
        Linked.BYTES, linked.outcome(linked.receiving, receive, linked.left, linked.right)[0]);
    assertEquals(-1, linked.source.mismatch(linked.target));
    assertEquals(Linked.BYTES, linked.outcome(linked.sending, send, linked.left, linked.right)[0]);
  }
}
