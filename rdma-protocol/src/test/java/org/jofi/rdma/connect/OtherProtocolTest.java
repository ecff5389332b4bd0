package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.engine.PacketReceiver;
import org.jofi.rdma.engine.PacketSender;
import org.jofi.rdma.engine.Posting;
import org.jofi.rdma.engine.ReceiveProtocol;
import org.jofi.rdma.engine.SendProtocol;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A protocol of packets alone, as for a provider without remote memory access, in the place of the
 * product's: what is above it (connections, their handshake and their end, requests and their
 * leases) and below it (the driver, its rails, its retries) is the same.
 */
class OtherProtocolTest {
  private static final int SEEDS = 20;
  private static final int MESSAGES = 60;
  private static final int AT_ONCE = 12;
  private static final int MOST_BYTES = 20_000;

  private static final ConnectionFactory PACKETS =
      new ConnectionFactory() {
        @Override
        public SendProtocol sender(
            PeerLink link, MemorySegment mailbox, long features, long most, EagerGrant eager) {
          return new PacketSender(link);
        }

        @Override
        public ReceiveProtocol receiver(
            PeerLink link,
            MemorySegment copy,
            Descriptors registration,
            List<MailboxTarget> targets,
            EagerGrant eager) {
          return new PacketReceiver(link);
        }
      };

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  private static Pair pair(Simulation simulation, Profile profile, int rails) {
    return Pair.of(
        simulation,
        new Node(simulation, profile, 0, rails).speaking(PACKETS),
        new Node(simulation, profile, 1, rails).speaking(PACKETS),
        "profile %s, seed %d, %d rail(s)".formatted(profile.name(), simulation.seed(), rails));
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void itsMessagesArrive(Profile profile) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      int rails = 1 + (int) seed % 3;
      try (Simulation simulation =
          Simulation.of(profile)
              .seed(seed)
              .nicsPerHost(rails)
              .faults(FaultPlan.survivable())
              .open()) {
        Pair pair = pair(simulation, profile, rails);
        exchange(pair, Random.from(new SplittableRandom(seed)));
        pair.finish(simulation);
      }
    }
  }

  private record Message(long send, long receive, MemorySegment from, MemorySegment to) {}

  private static void exchange(Pair pair, Random random) {
    DataRegistration from = pair.memory(pair.sends, (long) AT_ONCE * MOST_BYTES);
    DataRegistration to = pair.memory(pair.receives, (long) AT_ONCE * MOST_BYTES);
    for (int number = 0; number < MESSAGES; number += AT_ONCE) {
      List<Message> messages = new ArrayList<>();
      for (int i = 0; i < AT_ONCE; i++) {
        long bytes = random.nextInt(random.nextBoolean() ? 64 : MOST_BYTES);
        long slot = (long) i * MOST_BYTES;
        MemorySegment source = Pair.segment(from).asSlice(slot, bytes);
        MemorySegment target = Pair.segment(to).asSlice(slot, bytes);
        Pair.fill(source, number + i);
        // Half of them come before there is a receive.
        boolean early = random.nextBoolean();
        long receive = early ? 0 : pair.receive(target.address(), bytes, i, to);
        long send = Posting.send(pair.sends.sender, source.address(), bytes, i, from);
        for (int round = random.nextInt(20); early && round > 0; round--) {
          pair.progress();
        }
        receive = early ? pair.receive(target.address(), bytes, i, to) : receive;
        messages.add(new Message(send, receive, source, target));
      }
      for (Message message : messages) {
        assertEquals(message.from.byteSize(), pair.outcome(pair.sends, message.send));
        assertEquals(message.to.byteSize(), pair.outcome(pair.receives, message.receive));
        assertEquals(-1, message.from.mismatch(message.to), pair::toString);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void groupsAndCutMessagesToo(Profile profile) {
    try (Simulation simulation = Simulation.of(profile).nicsPerHost(2).open()) {
      Pair pair = pair(simulation, profile, 2);
      DataRegistration from = pair.memory(pair.sends, 3 * MOST_BYTES);
      DataRegistration to = pair.memory(pair.receives, 3 * MOST_BYTES);
      Pair.fill(Pair.segment(from), 5);
      long target = to.range().address();
      long group =
          Posting.receive(
              pair.receives.receiver,
              2,
              new long[] {target, target + MOST_BYTES},
              new long[] {100, MOST_BYTES},
              new int[] {1, 2},
              new DataRegistration[] {to, to});
      long source = from.range().address();
      long second = Posting.send(pair.sends.sender, source, 9_000, 2, from);
      long first = Posting.send(pair.sends.sender, source, 300, 1, from);
      long[] lengths = new long[2];
      long[] result = {Result.IN_PROGRESS};
      pair.await(
          "the group",
          () -> {
            result[0] = pair.receives.test(group, lengths);
            return result[0] != Result.IN_PROGRESS;
          });
      assertEquals(9_100, result[0]);
      assertArrayEquals(new long[] {100, 9_000}, lengths);
      assertEquals(9_000, pair.outcome(pair.sends, second));
      assertEquals(300, pair.outcome(pair.sends, first));
      MemorySegment there = Pair.segment(to);
      assertEquals(-1, Pair.segment(from).asSlice(0, 100).mismatch(there.asSlice(0, 100)));
      pair.finish(simulation);
    }
  }

  /** What arrived before the close is there, and what waits for more fails. */
  @ParameterizedTest
  @MethodSource("profiles")
  void closingEndsIt(Profile profile) {
    try (Simulation simulation = Simulation.of(profile).open()) {
      Pair pair = pair(simulation, profile, 1);
      DataRegistration from = pair.memory(pair.sends, MOST_BYTES);
      DataRegistration to = pair.memory(pair.receives, MOST_BYTES);
      Pair.fill(Pair.segment(from), 7);
      long address = to.range().address();
      long send = Posting.send(pair.sends.sender, from.range().address(), MOST_BYTES, 1, from);
      assertEquals(MOST_BYTES, pair.outcome(pair.sends, send));
      pair.left.connections.close(pair.sends);
      long receive = pair.receive(address, MOST_BYTES, 1, to);
      assertEquals(MOST_BYTES, pair.outcome(pair.receives, receive));
      assertEquals(-1, Pair.segment(from).mismatch(Pair.segment(to)));
      long never = pair.receive(address, MOST_BYTES, 1, to);
      assertTrue(never > 0);
      assertEquals(FailureCause.PEER_CLOSED.code(), pair.outcome(pair.receives, never));
      Failure why = pair.receives.failure();
      assertNotNull(why);
      pair.finish(simulation);
    }
  }
}
