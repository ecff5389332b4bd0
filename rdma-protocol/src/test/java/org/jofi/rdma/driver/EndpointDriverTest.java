package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jofi.counters.written.CounterScope;
import org.jofi.counters.written.CounterType;
import org.jofi.counters.written.EndpointCounters;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.nic.InsertedAddresses;
import org.jofi.rdma.nic.OperationOwner;
import org.jofi.rdma.nic.Post;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EndpointDriverTest {
  private static final int ROUNDS = 200_000;

  /** What operations of one owner came to. */
  private static final class Tally implements OperationOwner {
    final List<Long> done = new ArrayList<>();
    final List<Failure> failures = new ArrayList<>();

    @Override
    public void completed(long cookie, long lengthBytes) {
      done.add(cookie);
    }

    @Override
    public void lost(long cookie, RailPort port, Failure why) {
      failures.add(why);
    }

    @Override
    public void failed(long cookie, RailPort port, Failure why) {
      failures.add(why);
    }
  }

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  private static void await(Simulation simulation, BooleanSupplier done, Host... hosts) {
    for (int round = 0; !done.getAsBoolean(); round++) {
      assertTrue(round < ROUNDS, "nothing within %d rounds".formatted(ROUNDS));
      int events = 0;
      for (Host host : hosts) {
        events += host.progress();
      }
      if (events == 0) {
        simulation.idle();
      }
    }
  }

  private static Simulation simulation(Profile profile, long seed, int rails) {
    return Simulation.of(profile)
        .seed(seed)
        .nicsPerHost(rails)
        .faults(FaultPlan.survivable())
        .open();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void messagesAndImmediatesArriveOnceOverEveryControlRail(Profile profile) {
    for (long seed = 1; seed <= 10; seed++) {
      int count = 300;
      try (Simulation simulation = simulation(profile, seed, 2)) {
        Host left = new Host(simulation, 0, 2, 2);
        Host right = new Host(simulation, 1, 2, 2);
        List<Long> sent = new ArrayList<>();
        SentListener listener =
            (cookie, failure) -> {
              assertNull(failure);
              sent.add(cookie);
            };
        left.locked(
            from -> {
              PeerRails peer = from.controlTo(right.endpoint.addresses());
              for (int i = 0; i < count; i++) {
                Packet message = message(from, peer);
                message.memory().set(ValueLayout.JAVA_INT_UNALIGNED, 0, i);
                message.send(4 + i, listener, i);
                message(from, peer).sendImmediate(~i, listener, -1 - i);
              }
            });
        await(
            simulation,
            () ->
                sent.size() == 2 * count
                    && right.messages.size() == count
                    && right.immediates.size() == count,
            left,
            right);
        assertEquals(
            LongStream.range(0, count).boxed().toList(),
            right.messages.stream()
                .map(
                    bytes ->
                        (long) MemorySegment.ofArray(bytes).get(ValueLayout.JAVA_INT_UNALIGNED, 0))
                .sorted()
                .toList());
        assertEquals(
            LongStream.range(0, count).boxed().toList(),
            right.immediates.stream().map(data -> (long) ~data.intValue()).sorted().toList());
        right.messages.forEach(
            bytes ->
                assertEquals(
                    4 + MemorySegment.ofArray(bytes).get(ValueLayout.JAVA_INT_UNALIGNED, 0),
                    bytes.length));
        assertEquals(
            0,
            count(left, CounterType.COMPLETIONS_ORPHANED)
                + count(right, CounterType.RECEIVES_FAILED));
        left.close();
        right.close();
        assertEquals(List.of(), simulation.openObjects());
      }
    }
  }

  private static boolean answer(EndpointDriver from, FabricAddress stranger) {
    Packet message = from.outgoing.take(null);
    assertNotNull(message);
    return from.outgoing.sendTo(stranger, false, 0, message, 64, SentListener.NOBODY);
  }

  private static Packet message(EndpointDriver from, PeerRails to) {
    Packet message = from.outgoing.take(to);
    assertNotNull(message);
    return message;
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void anErrorGoesToItsOwnOperationAlone(Profile profile) {
    try (Simulation simulation = simulation(profile, 1, 1);
        Arena arena = Arena.ofShared()) {
      Host left = new Host(simulation, 0, 1, 1);
      Host right = new Host(simulation, 1, 1, 1);
      MemorySegment from = arena.allocate(4096, 64);
      MemorySegment to = arena.allocate(4096, 64);
      from.fill((byte) 7);
      DataRegistration local =
          left.endpoint.registrations.acquire(BufferRange.host(from), Access.ALL);
      DataRegistration remote =
          right.endpoint.registrations.acquire(BufferRange.host(to), Access.ALL);
      Tally good = new Tally();
      Tally bad = new Tally();
      int operations = 20;
      RailPort port = left.endpoint.data(0);
      InsertedAddresses.Entry peer = port.peer(right.endpoint.data(0).address());
      int posted = 0;
      while (posted < 2 * operations) {
        boolean sound = posted % 2 == 0;
        Post read = new Post();
        read.call = Post.Call.READ;
        read.address = from.address();
        read.lengthBytes = 512;
        read.descriptor = local.descriptor(0);
        read.peer = peer;
        read.remoteAddress = remote.remoteAddress(0, to.address());
        read.key = sound ? remote.key(0) : remote.key(0) + 1_000;
        int answer = port.post(sound ? good : bad, posted, read);
        if (answer == 0) {
          posted++;
        } else {
          assertEquals(-FabricErrno.EAGAIN, answer);
          left.progress();
          right.progress();
          simulation.idle();
        }
      }
      await(
          simulation,
          () -> good.done.size() == operations && bad.failures.size() == operations,
          left,
          right);
      assertEquals(List.of(), good.failures);
      assertEquals(List.of(), bad.done);
      bad.failures.forEach(failure -> assertEquals(FailureCause.FABRIC, failure.cause()));
      assertArrayEquals(
          new byte[512], from.asSlice(0, 512).toArray(ValueLayout.JAVA_BYTE), "read from there");
      assertEquals(0, port.inFlight());
      local.release();
      remote.release();
      left.close();
      right.close();
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void abortEndsWithinItsBoundWhateverIsInFlight(Profile profile) {
    try (Simulation simulation = simulation(profile, 3, 2)) {
      Host left = new Host(simulation, 0, 2, 1);
      Host right = new Host(simulation, 1, 2, 1);
      simulation.host(1).kill();
      List<Failure> outcomes = new ArrayList<>();
      left.locked(
          from -> {
            PeerRails peer = from.controlTo(right.endpoint.addresses());
            for (int i = 0; i < 10; i++) {
              message(from, peer).send(64, (id, why) -> outcomes.add(why), i);
            }
          });
      long before = simulation.nanoTime();
      left.endpoint.abort();
      assertTrue(simulation.nanoTime() - before < 2_000_000_000L, "took too long");
      left.device.close();
      left.domains.forEach(domain -> domain.close());
      left.fabrics.forEach(fabric -> fabric.close());
      assertTrue(outcomes.size() <= 10, outcomes::toString);
    }
  }

  /** P15. The rail was chosen when the message was queued. */
  @ParameterizedTest
  @MethodSource("profiles")
  void whatWaitsForARailThatIsGivenUpGoesOverAnother(Profile profile) {
    int count = 8;
    try (Simulation simulation = Simulation.of(profile).nicsPerHost(2).open()) {
      Host left = new Host(simulation, 0, 2, 2);
      Host right = new Host(simulation, 1, 2, 2);
      List<Failure> outcomes = new ArrayList<>();
      int[] before = new int[1];
      left.locked(
          from -> {
            PeerRails peer = from.controlTo(right.endpoint.addresses());
            for (int i = 0; i < count; i++) {
              message(from, peer).sendImmediate(i, (id, why) -> outcomes.add(why), i);
            }
            peer.retry(0, new Failure(FailureCause.PEER_LOST, 0, "test", "rail 0"), 1);
            before[0] = from.control(0).inFlight();
          });
      left.progress();
      assertEquals(before[0], left.endpoint.control(0).inFlight(), "posted on the lost rail");
      await(
          simulation,
          () -> {
            assertEquals(before[0], left.endpoint.control(0).inFlight());
            return outcomes.size() == count && right.immediates.size() == count;
          },
          left,
          right);
      outcomes.forEach(why -> assertNull(why));
      left.close();
      right.close();
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  /** Whoever asks in vain, under however many addresses. */
  @ParameterizedTest
  @MethodSource("profiles")
  void strangersWhoAreAnsweredTakeNoRoomOfPeers(Profile profile) {
    try (Simulation simulation = Simulation.of(profile).open()) {
      Host left = new Host(simulation, 0, 1, 1);
      Host right = new Host(simulation, 1, 1, 1);
      RailPort port = left.endpoint.control(0);
      FabricAddress real = right.endpoint.control(0).address();
      int refused = 0;
      for (int i = 0; i < 500; i++) {
        byte[] forged = real.bytes();
        forged[forged.length - 1] ^= (byte) (i + 1);
        forged[forged.length - 2] ^= (byte) (i >> 8);
        if (i % 3 > 0) {
          // Nobody has it. The others are of the right host, in other words.
          forged[0] ^= 0x55;
          forged[4] ^= 0x55;
          forged[Math.min(20, forged.length - 3)] ^= 0x55;
        }
        refused += answer(left.endpoint, FabricAddress.of(forged)) ? 0 : 1;
        assertTrue(
            port.peers().known()
                <= InsertedAddresses.MOST_STRANGERS + InsertedAddresses.MOST_UNUSED);
        if (i % 50 == 49) {
          long end = simulation.nanoTime() + 1_000_000_000;
          await(simulation, () -> simulation.nanoTime() > end, left, right);
        }
      }
      assertEquals(0, refused, "answers were not over");
      right.messages.clear();
      assertTrue(answer(left.endpoint, real));
      await(simulation, () -> right.messages.size() == 1, left, right);
      // Who becomes a peer stays one.
      PeerRails peer = left.endpoint.controlTo(right.endpoint.addresses());
      message(left.endpoint, peer).send(64, SentListener.NOBODY, 0);
      await(simulation, () -> right.messages.size() == 2, left, right);
      left.close();
      right.close();
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  private static long count(Host host, CounterType type) {
    EndpointCounters counters = host.endpoint.context.counters();
    return type.scope() == CounterScope.ENDPOINT
        ? counters.all().get(type)
        : counters.rails().stream().mapToLong(rail -> rail.get(type)).sum();
  }
}
