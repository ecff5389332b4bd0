package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.mr.RegisteredArena;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Link;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RemoteMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What becomes of what is in flight when the peer closes. */
class ClosingTest {
  private static final int BYTES = 64;

  /** More than the rails have room for. */
  private static final int LONG = 128;

  private static final int LONG_BYTES = 1024 * 1024;

  /** Much less than the bound on closing, and much more than these messages take. */
  private static final long CLOSE_NS = 100_000_000;

  /** More than a poll of one queue delivers. */
  private static final int MANY = 100;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  static Stream<Profile> profilesThatWriteData() {
    return profiles().filter(profile -> profile.behaviour().writeData());
  }

  /** P4: what left without a receive is there for receives after the sender closed. */
  @ParameterizedTest
  @MethodSource("profiles")
  void whatLeftEagerlyIsReceivedAfterThePeerClosed(Profile profile) {
    EagerGrant eager = new EagerGrant(8, BYTES);
    try (Simulation simulation = Simulation.of(profile).open();
        Arena arena = Arena.ofShared()) {
      Linked linked =
          new Linked(
              simulation,
              arena,
              new Node(simulation, profile, 0, 1, eager),
              new Node(simulation, profile, 1, 1, eager));
      List<Long> sends = new ArrayList<>();
      for (int tag : new int[] {7, 9, 7}) {
        sends.add(
            Posting.send(linked.sending.sender, linked.source.address(), BYTES, tag, linked.from));
      }
      for (long send : sends) {
        assertEquals(BYTES, linked.outcome(linked.sending, send, linked.left, linked.right)[0]);
      }
      linked.left.connections.close(linked.sending);
      linked.await("closing", () -> linked.sending.isReleased(), linked.left, linked.right);
      for (int i = 0; i < 2; i++) {
        long receive = linked.receive(BYTES);
        assertEquals(BYTES, linked.outcome(linked.receiving, receive, linked.right)[0]);
      }
      long vain = linked.receive(BYTES);
      assertEquals(
          FailureCause.PEER_CLOSED.code(), linked.outcome(linked.receiving, vain, linked.right)[0]);
      long last =
          Posting.receive(
              linked.receiving.receiver,
              1,
              new long[] {linked.target.address()},
              new long[] {BYTES},
              new int[] {9},
              new DataRegistration[] {linked.to});
      assertEquals(BYTES, linked.outcome(linked.receiving, last, linked.right)[0]);
      assertTrue(linked.receiving.failure() != null, "nothing more can come");
      linked.finish(linked.from, linked.to);
    }
  }

  /** The peer took it all and closed, before this side looked. */
  @ParameterizedTest
  @MethodSource("profilesThatWriteData")
  void whatWasDeliveredBeforeThePeerClosedSucceeds(Profile profile) {
    try (Simulation simulation = Simulation.of(profile).open();
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, profile, 1);
      long first = linked.receive(BYTES);
      assertEquals(
          BYTES, linked.outcome(linked.sending, linked.send(BYTES), linked.left, linked.right)[0]);
      assertEquals(BYTES, linked.outcome(linked.receiving, first, linked.left, linked.right)[0]);
      List<Long> receives = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        receives.add(linked.receive(BYTES));
      }
      linked.pass(10_000_000, linked.left, linked.right);
      List<Long> ours = new ArrayList<>();
      RemoteMemory remote = Pair.remote(linked.to);
      long address = linked.source.address();
      for (int i = 0; i < MANY; i++) {
        ours.add(Posting.send(linked.sending.sender, address, BYTES, 7, linked.from));
        ours.add(Posting.write(linked.sending, address, BYTES, linked.from, remote, 0));
      }
      ours.forEach(request -> assertTrue(request > 0, "posting succeeds"));
      for (long receive : receives) {
        assertEquals(BYTES, linked.outcome(linked.receiving, receive, linked.right)[0]);
      }
      linked.right.connections.close(linked.receiving);
      linked.pass(10_000_000, linked.right);
      for (long request : ours) {
        assertEquals(BYTES, linked.outcome(linked.sending, request, linked.left, linked.right)[0]);
      }
      linked.await(
          "hearing of it", () -> linked.sending.failure() != null, linked.left, linked.right);
      assertEquals(
          FailureCause.PEER_CLOSED.code(),
          linked.sending.test(Posting.send(linked.sending.sender, address, BYTES, 7, linked.from)));
      linked.finish(linked.from, linked.to);
    }
  }

  /** It did not run for so long that the receiver's close ended by its bound. */
  @ParameterizedTest
  @MethodSource("profiles")
  void whoWakesLateWritesIntoNothingThatWasHandedBack(Profile profile) {
    try (Simulation simulation = Simulation.of(profile).open();
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, profile, 1);
      // The cache keeps registrations of such memory after their last lease.
      RegisteredArena memory = linked.right.host.device.openArena();
      MemorySegment target = memory.allocate(BYTES, 64);
      DataRegistration lease = linked.right.register(BufferRange.host(target));
      linked.receive(target.address(), BYTES, lease);
      linked.pass(10_000_000, linked.left, linked.right);
      linked.right.connections.close(linked.receiving);
      linked.await("giving up", linked.receiving::isReleased, linked.right);
      lease.release();
      DataRegistration again = linked.right.register(BufferRange.host(target));
      linked.source.fill((byte) 7);
      linked.queue(BYTES);
      linked.pass(100_000_000, linked.left, linked.right);
      assertArrayEquals(new byte[BYTES], target.toArray(ValueLayout.JAVA_BYTE));
      again.release();
      memory.close();
      linked.finish(linked.from, linked.to);
    }
  }

  /**
   * P4. Over sockets a write is complete when it is in a socket, and the word that it is may
   * overtake it. What it is written into stays its own until it arrived.
   */
  @ParameterizedTest
  @MethodSource("profiles")
  void aCloseThatOvertakesWhatWasSentEndsNothing(Profile profile) {
    int overtook = 0;
    for (long seed = 1; seed <= 20; seed++) {
      try (Simulation simulation =
              Simulation.of(profile)
                  .seed(seed)
                  .links((_, _, _, _) -> new Link(1_000, 20_000_000))
                  .faults(FaultPlan.none().with(Fault.DELAY, 0.3))
                  .open();
          Arena arena = Arena.ofShared()) {
        Linked linked =
            new Linked(
                simulation,
                arena,
                new Node(simulation, profile, 0, 1),
                new Node(simulation, profile, 1, 1),
                LONG_BYTES);
        // The first message over a rail is complete when it was delivered.
        long first = linked.receive(BYTES);
        linked.outcome(linked.sending, linked.send(BYTES), linked.left, linked.right);
        linked.outcome(linked.receiving, first, linked.left, linked.right);
        linked.source.fill((byte) 9);
        long receive = linked.receive(LONG_BYTES);
        long send = linked.send(LONG_BYTES);
        assertEquals(
            LONG_BYTES, linked.outcome(linked.sending, send, linked.left, linked.right)[0]);
        linked.left.connections.close(linked.sending);
        linked.await(
            "hearing of it", () -> linked.receiving.closing.peerClosed, linked.left, linked.right);
        overtook += linked.target.mismatch(linked.source) >= 0 ? 1 : 0;
        if (seed % 2 == 0) {
          assertEquals(
              LONG_BYTES, linked.outcome(linked.receiving, receive, linked.left, linked.right)[0]);
        } else {
          // This side does not want it any more: its memory is let go of when it is there.
          linked.right.connections.close(linked.receiving);
          linked.await(
              "closing",
              () -> linked.sending.isReleased() && linked.receiving.isReleased(),
              linked.left,
              linked.right);
        }
        assertEquals(-1, linked.target.mismatch(linked.source), "seed " + seed);
        linked.finish(linked.from, linked.to);
      }
    }
    assertEquals(profile.equals(Profile.TCP), overtook > 0, "overtook " + overtook);
  }

  /** The answer to the write of its entries is slower than all that comes of them. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aReceiveThatArrivedWholeSucceedsThoughItsEntriesAreNotBack(Profile profile) {
    Link slow = new Link(1_000_000, 1_000_000_000);
    Link fast = new Link(1_000, 10_000_000_000L);
    try (Simulation simulation =
            Simulation.of(profile)
                .nicsPerHost(2)
                .links((fromHost, fromNic, _, _) -> fromHost == 1 && fromNic == 1 ? slow : fast)
                .open();
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, profile, 2);
      List<Long> receives = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        receives.add(linked.receive(BYTES));
      }
      for (int i = 0; i < 4; i++) {
        long send = linked.send(BYTES);
        assertEquals(BYTES, linked.outcome(linked.sending, send, linked.left, linked.right)[0]);
      }
      linked.left.connections.close(linked.sending);
      for (long receive : receives) {
        assertEquals(
            BYTES, linked.outcome(linked.receiving, receive, linked.left, linked.right)[0]);
      }
      linked.finish(linked.from, linked.to);
    }
  }

  /** What no rail had room for yet is dropped: nobody waits for the rest of such a message. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aMessageThatItsSenderCutShortIsNotAwaited(Profile profile) {
    try (Simulation simulation = Simulation.of(profile).nicsPerHost(2).open();
        Arena arena = Arena.ofShared()) {
      Linked linked =
          new Linked(
              simulation,
              arena,
              new Node(simulation, profile, 0, 2),
              new Node(simulation, profile, 1, 2),
              LONG_BYTES);
      List<Long> receives = new ArrayList<>();
      for (int i = 0; i < LONG; i++) {
        receives.add(linked.receive(LONG_BYTES));
      }
      linked.pass(10_000_000, linked.left, linked.right);
      linked.outcome(linked.sending, linked.queue(LONG_BYTES), linked.left, linked.right);
      linked.outcome(linked.receiving, receives.removeFirst(), linked.left, linked.right);
      List<Long> sends =
          Stream.generate(() -> linked.queue(LONG_BYTES)).limit(receives.size()).toList();
      long closed = simulation.nanoTime();
      linked.left.connections.close(linked.sending);
      linked.await("closing", linked.sending::isReleased, linked.left, linked.right);
      assertTrue(simulation.nanoTime() - closed < CLOSE_NS, "nobody waited for a bound");
      int failed = 0;
      for (int i = 0; i < sends.size(); i++) {
        long sent = linked.outcome(linked.sending, sends.get(i), linked.left, linked.right)[0];
        long got = linked.outcome(linked.receiving, receives.get(i), linked.left, linked.right)[0];
        assertTrue(got == LONG_BYTES || got == FailureCause.PEER_CLOSED.code(), "receive: " + got);
        assertTrue(got == LONG_BYTES || sent != LONG_BYTES, "what was sent arrived");
        failed += got == LONG_BYTES ? 0 : 1;
      }
      assertTrue(failed > 0, "there were some to be cut short");
      linked.finish(linked.from, linked.to);
    }
  }

  /** Whatever its slot held before: it never became a receive. */
  @Test
  void aReceiveThatFailedAtOnceNeedsRoomForOneLength() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open();
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, Profile.EFA, 1);
      int count = 8;
      long[] addresses = new long[count];
      Arrays.fill(addresses, linked.target.address());
      DataRegistration[] memory = new DataRegistration[count];
      Arrays.fill(memory, linked.to);
      long group =
          Posting.receive(
              linked.receiving.receiver, count, addresses, new long[count], new int[count], memory);
      linked.left.connections.close(linked.sending);
      assertEquals(
          FailureCause.PEER_CLOSED.code(),
          linked.outcome(linked.receiving, group, linked.left, linked.right)[0]);
      long single = linked.receive(BYTES);
      assertEquals(FailureCause.PEER_CLOSED.code(), linked.receiving.test(single, new long[1]));
      linked.finish(linked.from, linked.to);
    }
  }
}
