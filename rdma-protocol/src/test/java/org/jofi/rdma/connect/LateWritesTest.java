package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxWriter;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Writes of a connection that was, which land when its mailbox is another connection's. */
class LateWritesTest {
  private static final int RAILS = 2;
  private static final int SEEN = 10;
  private static final int ALL = 20;
  private static final int BYTES = 64;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void theyAreNoEntriesAndWhatTheyHideIsWrittenAgain(Profile profile) {
    try (Simulation simulation = Simulation.of(profile).nicsPerHost(RAILS).open();
        Arena arena = Arena.ofShared()) {
      Node left = new Node(simulation, profile, 0, RAILS);
      Node right = new Node(simulation, profile, 1, RAILS);
      Pair former = Pair.of(simulation, left, right, "former");
      int generation = former.sends.id().fromGeneration();
      MemorySegment mailbox = left.mailboxes.getLast();
      former.closeConnections();
      for (int i = 1; i < Mailboxes.PIECES; i++) {
        Pair.of(simulation, left, right, "between").closeConnections();
      }
      Linked now = new Linked(simulation, arena, left, right);
      assertEquals(mailbox.address(), left.mailboxes.getLast().address(), "used again");
      MemorySegment untouched = arena.allocate(BYTES, 64);
      DataRegistration old = right.register(BufferRange.host(untouched));
      now.source.fill((byte) 5);
      List<Long> receives = new ArrayList<>();
      for (int i = 0; i < SEEN; i++) {
        receives.add(now.receive(BYTES));
      }
      now.await("announcing", () -> now.sending.sender.firstUnseen() == SEEN + 1, left, right);
      long other = Posting.send(now.sending.sender, now.source.address(), BYTES, 1, now.from);
      assertTrue(now.sending.sender.cancel(other), "it looked at all of them");
      land(mailbox, generation, old);
      assertEquals(1, now.sending.sender.firstUnseen());
      List<Long> sends = new ArrayList<>();
      for (int i = 0; i < ALL; i++) {
        sends.add(now.queue(BYTES));
      }
      // Of the last one it has a copy, which was checked.
      assertEquals(1, now.started());
      for (int i = SEEN; i < ALL; i++) {
        receives.add(now.receive(BYTES));
      }
      for (int i = 0; i < ALL; i++) {
        assertEquals(BYTES, now.outcome(now.sending, sends.get(i), left, right)[0]);
        assertEquals(BYTES, now.outcome(now.receiving, receives.get(i), left, right)[0]);
      }
      assertEquals(-1, now.source.asSlice(0, BYTES).mismatch(now.target.asSlice(0, BYTES)));
      assertEquals(-1, untouched.mismatch(arena.allocate(BYTES)), "a receive that was over");
      now.finish(now.from, now.to, old);
    }
  }

  /** Entries of the connection that was, sound but for their generation. */
  private static void land(MemorySegment mailbox, int generation, DataRegistration memory) {
    MailboxWriter late = new MailboxWriter(mailbox, new MailboxLayout(RAILS), generation);
    for (long index = 1; index <= ALL; index++) {
      late.put(index, memory.remoteAddress(0, memory.range().address()), BYTES, 7);
      for (int rail = 0; rail < RAILS; rail++) {
        late.putKey(index, rail, memory.key(rail));
      }
      late.seal(index, 0);
    }
  }
}
