package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jofi.fabric.MrMode;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.RailChange;
import org.jofi.transport.RailStatus;
import org.jofi.transport.Result;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Rails on which something is out and nothing comes back. */
class SilentRailTest {
  private static final int SILENT = 1;
  private static final int BYTES = 3 << 20;
  private static final int MESSAGES = 4;
  private static final long SECOND = 1_000_000_000;
  private static final long NEVER = 600 * SECOND;

  /** After so long a rail with a NIC is silent, and each of the simulated ones has one. */
  private static final long BOUND = 3 * SECOND;

  static Stream<Arguments> profiles() {
    return of(Profile.ALL.stream());
  }

  private static Stream<Arguments> of(Stream<Profile> profiles) {
    return profiles.flatMap(
        profile -> Stream.of(2, 3, 4).map(rails -> Arguments.of(profile, rails)));
  }

  /** A connection for long messages. */
  private static final class LongMessages implements AutoCloseable {
    final Simulation simulation;
    final int rails;
    final Arena arena = Arena.ofShared();
    final Linked linked;

    LongMessages(Profile profile, int rails) {
      this(Simulation.of(profile).nicsPerHost(rails).open(), profile, rails);
    }

    /** That simulation is its own from now on. */
    LongMessages(Simulation simulation, Profile profile, int rails) {
      this.rails = rails;
      this.simulation = simulation;
      linked =
          new Linked(
              simulation,
              arena,
              new Node(simulation, profile, 0, rails, NEVER, NEVER),
              new Node(simulation, profile, 1, rails, NEVER, NEVER),
              BYTES);
      for (int at = 0; at < BYTES; at++) {
        linked.source.set(ValueLayout.JAVA_BYTE, at, (byte) (at * 31 + (at >> 12)));
      }
    }

    long receive() {
      return linked.receive(BYTES);
    }

    long send() {
      return linked.queue(BYTES);
    }

    void exchange(int messages) {
      List<Long> receives = new ArrayList<>();
      List<Long> sends = new ArrayList<>();
      for (int i = 0; i < messages; i++) {
        receives.add(receive());
        sends.add(send());
      }
      for (int i = 0; i < messages; i++) {
        arrives(sends.get(i), receives.get(i));
      }
    }

    void arrives(long send, long receive) {
      assertEquals(BYTES, linked.outcome(linked.receiving, receive, linked.left, linked.right)[0]);
      assertEquals(-1, linked.source.mismatch(linked.target));
      assertEquals(BYTES, linked.outcome(linked.sending, send, linked.left, linked.right)[0]);
    }

    List<Integer> lost() {
      return IntStream.range(0, rails)
          .filter(rail -> status(rail).cause().isPresent())
          .boxed()
          .toList();
    }

    /** Of the sender's data rails. */
    List<RailChange> changes() {
      return linked.left.host.railChanges().stream()
          .filter(change -> change.role() == RailChange.Role.DATA)
          .toList();
    }

    RailStatus status(int rail) {
      return linked.sending.link.sink.rail(rail);
    }

    @Override
    public void close() {
      linked.finish(linked.from, linked.to);
      simulation.close();
      arena.close();
    }
  }

  /** What was out on a silent rail may be read from memory yet, when its connection is over. */
  @ParameterizedTest
  @MethodSource("profiles")
  void entriesAreLeftAsTheyWereWritten(Profile profile, int rails) {
    try (LongMessages pair = new LongMessages(profile, rails)) {
      pair.exchange(MESSAGES);
      pair.simulation.host(0).nic(SILENT).stall(Duration.ofSeconds(20));
      // The entries of some go over each control rail.
      for (int message = 0; message < 2 * rails; message++) {
        long receive = pair.receive();
        pair.arrives(pair.send(), receive);
      }
      pair.linked.finishConnectionsOnly();
      pair.linked.pass(30 * SECOND, pair.linked.left, pair.linked.right);
      assertEquals(List.of(), pair.simulation.violations());
    }
  }

  /**
   * It is found and closed, what it had goes over the others, and it is used again once its link
   * works; where regions belong to endpoints, it stays closed.
   */
  @ParameterizedTest
  @MethodSource("profiles")
  void aRailThatIsSilentIsSurvived(Profile profile, int rails) {
    try (LongMessages pair = new LongMessages(profile, rails)) {
      pair.exchange(MESSAGES);
      List<Long> receives = new ArrayList<>();
      for (int i = 0; i <= MESSAGES; i++) {
        receives.add(pair.receive());
      }
      pair.linked.pass(SECOND / 10, pair.linked.left, pair.linked.right);
      pair.simulation.host(0).nic(SILENT).stall(Duration.ofSeconds(20));
      long start = pair.simulation.nanoTime();
      long held = pair.send();
      pair.arrives(held, receives.getFirst());
      long took = pair.simulation.nanoTime() - start;
      assertTrue(took < 7 * SECOND, "ms: " + took / 1_000_000);
      assertEquals(List.of(SILENT), pair.lost());
      boolean staysClosed = profile.negotiation().requiredMrModes().contains(MrMode.ENDPOINT);
      assertEquals(
          staysClosed ? RailStatus.State.CLOSED : RailStatus.State.LOST,
          pair.status(SILENT).state());
      assertTrue(pair.status(SILENT).age().compareTo(Duration.ofSeconds(5)) < 0);
      assertEquals(0, pair.status(SILENT).written().share());
      assertEquals(
          1,
          IntStream.range(0, rails).mapToDouble(rail -> pair.status(rail).written().share()).sum(),
          1e-9);
      String why = pair.status(SILENT).cause().orElseThrow().toString();
      assertTrue(why.contains("data rail " + SILENT) && why.contains("silent for"), why);
      for (int i = 1; i <= MESSAGES; i++) {
        pair.arrives(pair.send(), receives.get(i));
      }
      assertTrue(pair.simulation.nanoTime() - start < 8 * SECOND, "others wait for nothing");
      pair.linked.pass(40 * SECOND, pair.linked.left, pair.linked.right);
      assertEquals(staysClosed ? List.of(SILENT) : List.of(), pair.lost());
      assertEquals(
          List.of(
              RailStatus.State.LOST, staysClosed ? RailStatus.State.CLOSED : RailStatus.State.UP),
          pair.changes().stream().map(RailChange::state).toList());
      RailChange first = pair.changes().getFirst();
      assertEquals(why, first.cause().orElseThrow().toString());
      assertEquals(rails - 1, first.railsUp());
      long before = pair.status(SILENT).written().bytes();
      pair.exchange(2 * MESSAGES);
      assertEquals(pair.lost().isEmpty(), pair.status(SILENT).written().bytes() > before);
    }
  }

  /** Where the sender computes, what keeps its endpoint going looks 20 times a second. */
  @ParameterizedTest
  @MethodSource("everyProfile")
  void whoDoesNotPollFindsItAsSoon(Profile profile) {
    try (LongMessages pair = new LongMessages(profile, 2)) {
      pair.exchange(MESSAGES);
      Node sender = pair.linked.left;
      Node receiver = pair.linked.right;
      long receive = pair.receive();
      pair.linked.pass(SECOND / 10, sender, receiver);
      pair.simulation.host(0).nic(SILENT).stall(Duration.ofSeconds(20));
      long start = pair.simulation.nanoTime();
      pair.send();
      long looked = start;
      while (pair.linked.receiving.test(receive) == Result.IN_PROGRESS) {
        long now = pair.simulation.nanoTime();
        assertTrue(now - start < BOUND + 2 * SECOND, "ms: " + (now - start) / 1_000_000);
        if (now - looked >= SECOND / 20) {
          looked = now;
          sender.connections.checkBounds();
        }
        if (receiver.connections.progress() == 0) {
          pair.simulation.idle();
        }
      }
      assertEquals(-1, pair.linked.source.mismatch(pair.linked.target));
    }
  }

  /**
   * All but one, of which all but the first had nothing out when they died: what that one lost is
   * not given to them, so that they are found with it, and not one after the other.
   */
  @ParameterizedTest
  @MethodSource("everyProfile")
  void severalThatDieAtOnceAreFoundAtOnce(Profile profile) {
    int rails = 4;
    try (LongMessages pair = new LongMessages(profile, rails)) {
      pair.exchange(MESSAGES);
      List<Long> receives = new ArrayList<>();
      List<Long> sends = new ArrayList<>();
      for (int i = 0; i < MESSAGES; i++) {
        receives.add(pair.receive());
      }
      pair.linked.pass(SECOND / 10, pair.linked.left, pair.linked.right);
      pair.simulation.host(0).nic(SILENT).stall(Duration.ofSeconds(20));
      long start = pair.simulation.nanoTime();
      for (int i = 0; i < MESSAGES; i++) {
        sends.add(pair.send());
      }
      pair.linked.pass(SECOND / 10, pair.linked.left, pair.linked.right);
      pair.simulation.host(0).nic(2).stall(Duration.ofSeconds(20));
      pair.simulation.host(0).nic(3).stall(Duration.ofSeconds(20));
      for (int i = 0; i < MESSAGES; i++) {
        pair.arrives(sends.get(i), receives.get(i));
      }
      long took = pair.simulation.nanoTime() - start;
      assertTrue(took < BOUND * 3 / 2, "ms: " + took / 1_000_000);
    }
  }

  static Stream<Profile> everyProfile() {
    return Profile.ALL.stream();
  }

  /** Where nothing but messages without bytes goes, too. */
  @ParameterizedTest
  @MethodSource("profiles")
  void emptyMessagesSurvive(Profile profile, int rails) {
    try (LongMessages pair = new LongMessages(profile, rails)) {
      pair.exchange(MESSAGES);
      List<Long> receives = new ArrayList<>();
      for (int i = 0; i < 2 * rails; i++) {
        receives.add(pair.receive());
      }
      pair.linked.pass(SECOND / 10, pair.linked.left, pair.linked.right);
      pair.simulation.host(0).nic(SILENT).stall(Duration.ofSeconds(20));
      long start = pair.simulation.nanoTime();
      for (long receive : receives) {
        long send = pair.linked.queue(0);
        assertEquals(
            0,
            pair.linked
                .outcome(pair.linked.receiving, receive, pair.linked.left, pair.linked.right)[0]);
        pair.linked.outcome(pair.linked.sending, send, pair.linked.left, pair.linked.right);
      }
      long took = pair.simulation.nanoTime() - start;
      assertTrue(took < 12 * SECOND, "ms: " + took / 1_000_000);
    }
  }

  static Stream<Arguments> sides() {
    return Profile.ALL.stream()
        .flatMap(profile -> Stream.of(0, 1).map(host -> Arguments.of(profile, host)));
  }

  /** The listener is asked over another rail, and answers over that. */
  @ParameterizedTest
  @MethodSource("sides")
  void connectionsAreMadeThoughTheFirstRailIsSilent(Profile profile, int host) {
    Simulation stalled = Simulation.of(profile).nicsPerHost(2).open();
    stalled.host(host).nic(0).stall(Duration.ofSeconds(20));
    try (LongMessages pair = new LongMessages(stalled, profile, 2)) {
      long took = stalled.nanoTime();
      assertTrue(took < 2 * SECOND, "ms: " + took / 1_000_000);
      long receive = pair.receive();
      pair.arrives(pair.send(), receive);
      assertTrue(stalled.nanoTime() - took < 9 * SECOND, "its first message takes too long");
      pair.linked.pass(40 * SECOND, pair.linked.left, pair.linked.right);
    }
  }

  /** Nothing is heard of it over any rail, so it is not its rails. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aPeerThatIsStoppedHasNoSilentRails(Profile profile, int rails) {
    try (LongMessages pair = new LongMessages(profile, rails)) {
      pair.exchange(MESSAGES);
      long receive = pair.receive();
      pair.linked.pass(SECOND / 10, pair.linked.left, pair.linked.right);
      for (int nic = 0; nic < rails; nic++) {
        pair.simulation.host(1).nic(nic).stall(Duration.ofSeconds(30));
      }
      long send = pair.send();
      for (int i = 0; i < 400; i++) {
        pair.linked.pass(SECOND / 10, pair.linked.left, pair.linked.right);
        assertEquals(List.of(), pair.lost());
      }
      pair.arrives(send, receive);
    }
  }
}
